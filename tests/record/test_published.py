"""What a run publishes of its telemetry: little, and enough to get the record in memory back."""

import pickle
from typing import Any

import numpy as np
import pytest

from pliant.control.laws.registry import LAWS
from pliant.control.published import Published
from pliant.control.telemetry import state_after
from pliant.records import FAULT_SENSOR, MODES, TICK, Field, Layout

OWN = Layout("WallState", (Field("depth_m", "m", "how deep the tool is"), Field("twelve", "", "not joints", (12,))))


def random_records(published: Published, law: int, n: int = 5) -> Any:
    """Records with random numbers in all that such a run uses."""
    records = published.record.new(n)
    records.view(np.float64)[:] = np.random.default_rng(law).normal(size=records.view(np.float64).shape)
    records["state"]["law"] = law
    return published.unpack(published.pack(records))


@pytest.mark.parametrize("interface", [*MODES, "base"])
@pytest.mark.parametrize("law", [law.number for law in LAWS.values()] + [9])
def test_a_record_that_was_published_comes_back_bit_for_bit(interface: str, law: int) -> None:
    published = Published(6, (interface,), {"wall": (9, OWN)})
    records = random_records(published, law)
    again = published.unpack(published.pack(records))
    assert again.tobytes() == records.tobytes()
    assert np.any(records["wall"]["twelve"][:, 11]) == (law == 9)
    assert np.any(records["contact"]["force_n"]) == (law == LAWS["contact"].number)
    assert np.array_equal(records["command"]["q"], records["state"]["q_cmd"]) == (interface == "position")


def test_a_law_publishes_the_common_part_and_its_own_record_and_no_other() -> None:
    published = Published(6, ("position",))
    common = published.layout.dtype.itemsize
    for law in LAWS.values():
        own = published.laws[law.number][1].dtype.itemsize if law.state is not None else 0
        assert published.bytes_of(law.number) == common + own <= published.step
    assert published.bytes_of(LAWS["admittance"].number) <= 1500


@pytest.mark.parametrize("law", [0, 7, 10**6, -1])
def test_a_number_that_is_no_law_publishes_the_common_part(law: int) -> None:
    published = Published(6, ("position",))
    records = random_records(published, law if 0 <= law < 10 else 0)
    records["state"]["law"] = law
    assert published.unpack(published.pack(records)).tobytes() == records.tobytes()


def test_the_state_after_a_tick_has_the_memory_of_its_law() -> None:
    published, law = Published(6, ("position",)), LAWS["contact"]
    record = random_records(published, law.number, 1)[0]
    record.state.fault = FAULT_SENSOR
    state = state_after(record)[0]
    assert law.state is not None
    size = law.state.dtype.itemsize // 8
    assert state.memory[:size].tobytes() == record["contact"].tobytes()
    assert not state.memory[size:].any()
    assert state.fault == FAULT_SENSOR
    assert state.wrench.tolist() == record.observed.wrench.tolist()
    assert state.wrench_last.tolist() == record.reading.wrench.tolist()


def test_fields_of_a_record_are_attributes_at_every_depth() -> None:
    record = TICK.new(2)[1]
    record.state.twist[2], record.goal.law, record.time_s = 0.5, 3, 0.25
    assert (record["state"]["twist"][2], record["goal"]["law"], record["time_s"]) == (0.5, 3, 0.25)
    again = pickle.loads(pickle.dumps(record))
    assert again.state.twist[2] == 0.5
    with pytest.raises(AttributeError, match="no field 'twists'"):
        _ = record.state.twists
    with pytest.raises(AttributeError, match="no field 'twists'"):
        record.state.twists = 0.0
    with pytest.raises(ValueError, match="broadcast"):
        record.state.twist = np.zeros(5)
