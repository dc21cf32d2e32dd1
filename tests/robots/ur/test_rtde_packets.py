"""RTDE by its bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.robots.ur import rtde

KNOWN = {"timestamp": "DOUBLE", "actual_q": "VECTOR6D", "robot_mode": "INT32", "bits": "UINT32", "mask": "UINT8",
         "payload_cog": "VECTOR3D", "flag": "BOOL", "inputs": "UINT64", "joint_mode": "VECTOR6INT32"}  # fmt: skip


def test_a_packet_says_its_size_with_its_header() -> None:
    assert rtde.packet(rtde.ASK_PROTOCOL, b"\x00\x02") == b"\x00\x05V\x00\x02"
    assert rtde.packet(rtde.START) == b"\x00\x03S"


def test_the_version_is_four_big_endian_numbers() -> None:
    body = rtde.version_body((5, 12, 2, 1101534))
    assert body == bytes.fromhex("00000005 0000000c 00000002 0010cede")
    assert rtde.read_version(body) == (5, 12, 2, 1101534)


def test_a_text_message_has_lengths_before_its_texts() -> None:
    assert rtde.text_body("hi", "me", 1) == b"\x02hi\x02me\x01"


def test_names_are_read_with_the_comma_that_clients_leave_at_the_end() -> None:
    assert rtde.read_names(b"timestamp,actual_q,") == ("timestamp", "actual_q")


def test_packets_are_taken_one_by_one_and_a_part_of_one_waits() -> None:
    buffer = bytearray(rtde.packet(rtde.START) + rtde.packet(rtde.DATA, b"\x01abc")[:-1])
    assert rtde.take(buffer) == (rtde.START, b"")
    assert rtde.take(buffer) is None
    buffer += b"c"
    assert rtde.take(buffer) == (rtde.DATA, b"\x01abc")
    assert buffer == b""


def test_a_packet_shorter_than_its_header_is_an_error_and_not_an_endless_loop() -> None:
    with pytest.raises(ValueError, match="2 bytes"):
        rtde.take(bytearray(b"\x00\x02V"))


@given(st.binary(max_size=60), st.lists(st.integers(1, 20), max_size=12))
def test_a_stream_gives_the_same_packets_however_it_is_cut(body: bytes, cuts: list[int]) -> None:
    stream = rtde.packet(rtde.DATA, body) + rtde.packet(rtde.TEXT, body[:7])
    found, buffer = [], bytearray()
    for size in [*cuts, len(stream)]:
        buffer += stream[:size]
        stream = stream[size:]
        while (one := rtde.take(buffer)) is not None:
            found.append(one)
    assert found == [(rtde.DATA, body), (rtde.TEXT, body[:7])]


def test_a_recipe_answers_with_its_number_and_types() -> None:
    recipe = rtde.Recipe.of(3, ("timestamp", "actual_q"), KNOWN)
    assert recipe.body == b"\x03DOUBLE,VECTOR6D"


@pytest.mark.parametrize(
    ("names", "taken", "body"),
    [(("timestamp", "nonsense"), (), b"\x00DOUBLE,NOT_FOUND"), (("robot_mode",), ("robot_mode",), b"\x00IN_USE")],
)
def test_a_name_that_is_unknown_or_taken_spoils_the_recipe(names, taken, body: bytes) -> None:
    recipe = rtde.Recipe.of(3, names, KNOWN, taken)
    assert not recipe.is_good
    assert recipe.body == body


def test_values_lie_behind_the_number_in_the_order_of_the_names() -> None:
    recipe = rtde.Recipe.of(1, ("robot_mode", "timestamp", "bits"), KNOWN)
    body = recipe.pack(recipe.layout, {"timestamp": 1.5, "robot_mode": -1, "bits": 7})
    assert body == b"\x01" + struct.pack(">i", -1) + struct.pack(">d", 1.5) + struct.pack(">I", 7)


def test_every_type_comes_back_as_it_went() -> None:
    recipe = rtde.Recipe.of(9, KNOWN, KNOWN)
    values = {"timestamp": 0.25, "actual_q": (1.0, -2.0, 3.0, 0.0, 1e-300, -1e300), "robot_mode": -7, "bits": 2**32 - 1,
              "mask": 255, "payload_cog": (0.0, 0.5, -0.5), "flag": True, "inputs": 2**64 - 1,
              "joint_mode": (253, -1, 0, 1, 2, 3)}  # fmt: skip
    assert recipe.unpack(recipe.layout, recipe.pack(recipe.layout, values)) == values
