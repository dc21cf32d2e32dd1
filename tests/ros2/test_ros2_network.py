"""Settings of ROS 2 mean the same to Pliant; names resolve as ROS resolves them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from pliant.errors import InputError
from pliant.ros2.network import configuration, domain_id, resolved


def settings(**environment: str) -> dict[str, str | None]:
    """Every leaf of the configuration by its path."""
    root = ElementTree.fromstring(configuration(environment))
    found: dict[str, str | None] = {}

    def walk(node: ElementTree.Element, path: str) -> None:
        found.update({f"{path}@{name}": value for name, value in node.attrib.items()})
        found[path] = node.text
        for child in node:
            walk(child, f"{path}/{child.tag}")

    for child in root[0]:
        walk(child, child.tag)
    return found


def test_the_domain_is_that_of_ros() -> None:
    assert domain_id({}) == 0
    assert domain_id({"ROS_DOMAIN_ID": ""}) == 0
    assert domain_id({"ROS_DOMAIN_ID": "42"}) == 42


@pytest.mark.parametrize("text", ["-1", "233", "seven", "1.5"])
def test_a_domain_that_cannot_be_is_refused_with_what_can(text: str) -> None:
    with pytest.raises(InputError, match=r"ROS_DOMAIN_ID is .* whole number from 0 to 232"):
        domain_id({"ROS_DOMAIN_ID": text})


def test_types_of_fast_dds_three_are_not_compared() -> None:
    assert settings()["Compatibility/IgnoreTypeInformation"] == "1.15"
    assert "General/AllowMulticast" not in settings()


@pytest.mark.parametrize("name", ["ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY"])
def test_localhost_means_the_loopback_without_multicast(name: str) -> None:
    found = settings(**{name: "LOCALHOST" if "RANGE" in name else "1"})
    assert found["General/Interfaces/NetworkInterface@address"] == "127.0.0.1"
    assert found["General/AllowMulticast"] == "false"
    assert found["Discovery/Peers/Peer@Address"] == "127.0.0.1"
    assert found["Discovery/MaxAutoParticipantIndex"] == "30"


@pytest.mark.parametrize(
    ("environment", "numbered"),
    [
        ({}, False),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, False),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}, True),
        ({"ROS_STATIC_PEERS": "10.0.0.7"}, True),
        ({"ROS_LOCALHOST_ONLY": "1"}, True),
    ],
)
def test_only_where_nodes_are_asked_one_by_one_there_can_be_no_more_than_thirty(
    environment: dict[str, str], *, numbered: bool
) -> None:
    assert ("Discovery/MaxAutoParticipantIndex" in settings(**environment)) == numbered


def test_static_peers_are_asked_and_settings_of_cyclone_come_last() -> None:
    assert settings(ROS_STATIC_PEERS="10.0.0.7;")["Discovery/Peers/Peer@Address"] == "10.0.0.7"
    assert configuration({"CYCLONEDDS_URI": "file:///x.xml"}).endswith(",file:///x.xml")


def test_an_unknown_range_is_refused() -> None:
    with pytest.raises(InputError, match="ROS_AUTOMATIC_DISCOVERY_RANGE is 'NEAR'"):
        configuration({"ROS_AUTOMATIC_DISCOVERY_RANGE": "NEAR"})


@pytest.mark.parametrize(
    ("name", "namespace", "full"),
    [
        ("joint_states", "", "/joint_states"),
        ("joint_states", "/left", "/left/joint_states"),
        ("/joint_states", "left", "/joint_states"),
        ("~/state", "", "/pliant/state"),
        ("~/state", "/left", "/left/pliant/state"),
        ("a/b", "/x/y/", "/x/y/a/b"),
    ],
)
def test_names_resolve_as_in_ros(name: str, namespace: str, full: str) -> None:
    assert resolved(name, "pliant", namespace) == full
