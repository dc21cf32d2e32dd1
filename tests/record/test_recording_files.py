"""What was written is what is read: records, parameters, description and attachments."""

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader

from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError, RecordingError
from pliant.record import Recording, RecordingWriter
from pliant.record.writer import CHUNK_RECORDS


@pytest.mark.parametrize("block", [1, 7, 500, 3000])
def test_records_come_back_bit_for_bit_however_they_were_handed_over(tmp_path, random_run, joint_names, block):
    records = random_run(3000)
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names) as writer:
        for start in range(0, len(records), block):
            writer.append(records[start : start + block])
    read = Recording.load(tmp_path / "run.mcap")
    assert read.records.dtype == TELEMETRY.dtype
    assert read.records.tobytes() == records.tobytes()
    assert (read.complete, read.lost, read.n, read.joint_names) == (True, 0, 6, joint_names)


def test_the_array_that_was_handed_over_may_be_reused(tmp_path, random_run, joint_names):
    records = random_run(100)
    ring = np.zeros_like(records[:10])
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names) as writer:
        for start in range(0, 100, 10):
            ring[:] = records[start : start + 10]
            writer.append(ring)
    assert Recording.load(tmp_path / "run.mcap").records.tobytes() == records.tobytes()


def test_every_other_record_of_an_array_can_be_written(tmp_path, random_run, joint_names):
    records = random_run(100)[::2]
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names) as writer:
        writer.append(records)
    read = Recording.load(tmp_path / "run.mcap")
    assert read.records.tobytes() == records.tobytes()
    assert read.lost == 49


def test_parameters_are_stored_when_they_change(tmp_path, random_run, joint_names, parameters):
    sets = parameters.new(3)
    sets["stiffness"] = np.random.default_rng(1).normal(size=(3, 6, 6))
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names, parameters) as writer:
        for revision, values, time_s in [(1, sets[0], 0.0), (1, sets[0], 0.5), (2, sets[1], 1.5), (3, sets[2], 9.0)]:
            writer.parameters(revision, values, time_s)
            writer.append(random_run(10))
    read = Recording.load(tmp_path / "run.mcap")
    assert [(p.revision, p.time_s) for p in read.parameters] == [(1, 0.0), (2, 1.5), (3, 9.0)]
    assert [p.values.tobytes() for p in read.parameters] == [values.tobytes() for values in sets]
    assert read.parameter_layout == parameters
    assert read.parameters[1].values["stiffness"].shape == (6, 6)


def test_a_bare_dtype_is_enough_for_parameters(tmp_path, joint_names):
    dtype = np.dtype([("gain", "f8"), ("limits", [("speed", "f8"), ("force", "f8", (3,))])])
    values = np.array([(0.5, (0.1, (1.0, 2.0, 3.0)))], dtype)
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names, dtype) as writer:
        writer.parameters(4, values, 0.0)
    (found,) = Recording.load(tmp_path / "run.mcap").parameters
    assert found.values.tobytes() == values.tobytes()
    assert found.values["limits"]["force"].tolist() == [1.0, 2.0, 3.0]


def test_the_description_keeps_text_numbers_and_nesting(tmp_path, joint_names):
    meta = {
        "robot": "sim:ur5e",
        "seed": 7,
        "rate_hz": 500.0,
        "label": "7",
        "note": "",
        "quoted": '"yes"',
        "versions": {"pliant": "0.1.0", "numpy": "2.4"},
        "tags": ["push", "µm"],
        "nothing": None,
        "start_wall_ns": 10**18,
    }
    RecordingWriter(tmp_path / "run.mcap", meta, joint_names).close()
    assert Recording.load(tmp_path / "run.mcap").meta == meta


def test_numpy_values_in_the_description_become_plain_ones(tmp_path, joint_names):
    meta = {"stiffness": np.array([1.0, 2.0]), "seed": np.int64(3), "path": tmp_path}
    RecordingWriter(tmp_path / "run.mcap", meta, joint_names).close()
    assert Recording.load(tmp_path / "run.mcap").meta == {"stiffness": [1, 2], "seed": 3, "path": str(tmp_path)}


def test_attachments_come_back(tmp_path, random_run, joint_names):
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names) as writer:
        writer.attach("task.yaml", b"law: admittance\n", "application/yaml")
        writer.append(random_run(700))
        writer.attach("empty", b"", "application/octet-stream")
    read = Recording.load(tmp_path / "run.mcap")
    assert read.attachments == {"task.yaml": b"law: admittance\n", "empty": b""}
    assert len(read.records) == 700


def test_the_same_run_gives_the_same_file(tmp_path, random_run, joint_names, parameters):
    for name in ("a.mcap", "b.mcap"):
        with RecordingWriter(tmp_path / name, {"robot": "sim:ur5e"}, joint_names, parameters) as writer:
            writer.parameters(1, parameters.new()[0], 0.0)
            writer.append(random_run(1000))
    assert (tmp_path / "a.mcap").read_bytes() == (tmp_path / "b.mcap").read_bytes()


def test_message_times_follow_the_wall_clock_of_a_paced_run(tmp_path, random_run, joint_names):
    records = random_run(100)
    records["timing"]["wall_ns"] = 1_700_000_000 * 10**9 + np.arange(100) * 2_000_000 + 31_000
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names) as writer:
        writer.append(records)
    with (tmp_path / "run.mcap").open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_start_time == 1_700_000_000 * 10**9 + 31_000


def test_a_chunk_holds_a_second_and_never_more_than_its_bound(tmp_path, random_run, joint_names):
    for rate_hz, chunks in ((500.0, 10), (1e6, -(-5000 // CHUNK_RECORDS))):
        with RecordingWriter(tmp_path / "run.mcap", {}, joint_names) as writer:
            writer.append(random_run(5000, rate_hz))
        with (tmp_path / "run.mcap").open("rb") as stream:
            summary = make_reader(stream).get_summary()
        assert summary is not None
        assert len(summary.chunk_indexes) == chunks


def test_the_whole_file_passes_the_checks_of_the_mcap_library(tmp_path, random_run, joint_names):
    with RecordingWriter(tmp_path / "run.mcap", {"robot": "x"}, joint_names) as writer:
        writer.append(random_run(1200))
        writer.attach("a", b"b", "text/plain")
    with (tmp_path / "run.mcap").open("rb") as stream:
        kinds = {type(record).__name__ for record in StreamReader(stream, validate_crcs=True).records}
        assert {"Header", "Message", "MessageIndex", "Statistics", "ChunkIndex", "Footer"} <= kinds
        stream.seek(0)
        reader = make_reader(stream, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        # Found through the message index, not by reading on:
        late = [m.sequence for _, _, m in reader.iter_messages("/tool_pose", starting_at=2 * 10**9)]
        assert late == list(range(1000, 1200))


def test_a_run_without_records_is_a_recording(tmp_path, joint_names):
    RecordingWriter(tmp_path / "run.mcap", {}, joint_names).close()
    read = Recording.load(tmp_path / "run.mcap")
    assert (len(read.records), read.complete, read.lost, read.duration_s) == (0, True, 0, 0.0)


def test_an_error_in_the_run_still_leaves_a_complete_file(tmp_path, random_run, joint_names):
    def run() -> None:
        with RecordingWriter(tmp_path / "run.mcap", {}, joint_names) as writer:
            writer.append(random_run(10))
            raise RuntimeError("the robot went away")

    with pytest.raises(RuntimeError, match="robot"):
        run()
    assert len(Recording.load(tmp_path / "run.mcap").records) == 10


def test_wrong_input_is_refused_at_the_door(tmp_path, joint_names, parameters):
    with pytest.raises(InputError, match="joint_names"):
        RecordingWriter(tmp_path / "run.mcap", {}, ["j"] * 13)
    with pytest.raises(InputError, match=r"Parameters\.gain"):
        RecordingWriter(tmp_path / "run.mcap", {}, joint_names, np.dtype([("gain", "f4")]))
    assert not (tmp_path / "run.mcap").exists()
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names, parameters) as writer:
        with pytest.raises(InputError, match="tick is missing"):
            writer.append(np.zeros(3, [("a", "f8")]))
        with pytest.raises(InputError, match="mass is missing"):
            writer.parameters(1, np.zeros((), [("a", "f8")]), 0.0)


def test_a_place_that_cannot_be_written_is_named(tmp_path, joint_names):
    with pytest.raises(
        RecordingError, match=r"Cannot write .*nowhere/run\.mcap: the folder does not exist\. Choose another file"
    ):
        RecordingWriter(tmp_path / "nowhere" / "run.mcap", {}, joint_names)


def test_a_full_disk_is_an_error_of_the_recording(random_run, joint_names):
    with pytest.raises(RecordingError, match=r"Cannot write .*: no space left"):
        RecordingWriter("/dev/full", {}, joint_names)
