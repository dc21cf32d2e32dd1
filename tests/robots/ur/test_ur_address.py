"""How a UR is named."""

from __future__ import annotations

import pytest

from pliant.errors import InputError, UnknownNameError
from pliant.robots import is_simulated, model_of
from pliant.robots.robot_registry import kind_of
from pliant.robots.ur.address import UrAddress
from pliant.task.schema import Task, arm_of, located


def test_a_host_alone_is_a_ur5e() -> None:
    assert UrAddress.parse("127.0.0.2") == UrAddress("127.0.0.2", "ur5e")
    assert model_of("ur:robot.local") == "ur5e"


def test_another_model_is_said_behind_a_hash() -> None:
    assert UrAddress.parse("192.168.0.3#ur10e") == UrAddress("192.168.0.3", "ur10e")
    assert arm_of(Task(robot="ur:192.168.0.3#ur10e")).name == "ur10e"


def test_a_model_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UnknownNameError, match="ur16e"):
        model_of("ur:127.0.0.2#ur6e")


@pytest.mark.parametrize("which", ["#ur5e", "127.0.0.1:30004", "a b", "-x", "host/", "x\n"])
def test_what_is_no_host_is_refused_and_a_port_is_none(which: str) -> None:
    with pytest.raises(InputError, match="without a port"):
        UrAddress.parse(which)


def test_only_sim_is_simulated() -> None:
    assert is_simulated("sim:ur5e")
    assert not is_simulated("ur:127.0.0.2")


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"Known: ros2, sim, ur\. A driver of your own is a file: my_driver\.py"):
        kind_of("kuka:1.2.3.4")


def test_a_host_is_not_taken_for_a_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "127.0.0.2").write_text("no robot")
    monkeypatch.chdir(tmp_path)
    assert located(Task(robot="ur:127.0.0.2")).robot == "ur:127.0.0.2"
