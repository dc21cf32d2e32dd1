"""The Net F/T source against a server on this computer: what it reads, and what it does about bad packets."""

from __future__ import annotations

import socket

import pytest
from streaming_box import Box, record

from pliant.sensors.sources.net_ft import HEADER, STOP, STREAM, NetFt, NetFtSensor


def opened(box: Box, **values: float) -> NetFtSensor:
    sensor = NetFtSensor(NetFt(host="127.0.0.1", port=box.port, **{"silence_s": 0.5, **values}))
    sensor.open()
    assert box.request() == (HEADER, STREAM, 0)
    return sensor


def test_counts_become_newtons_and_newton_metres_with_their_sign(box: Box) -> None:
    sensor = opened(box, counts_per_force=1e4, counts_per_torque=1e5)
    box.send(record(1, (10_000, -20_000, 5_000, 100_000, -50_000, 1)))
    sample = sensor.read()
    assert sample is not None
    assert sample.wrench == pytest.approx([1.0, -2.0, 0.5, 1.0, -0.5, 1e-5])
    assert (sample.state, sample.stamp_s) == ("good", None)
    sensor.close()
    assert box.request() == (HEADER, STOP, 0)


def test_lost_packets_are_counted_and_overtaken_ones_are_dropped(box: Box) -> None:
    sensor = opened(box)
    box.send(*(record(number) for number in (7, 8, 11, 10, 11, 12)))
    used = [sensor.read() is not None for _ in range(6)]
    assert used == [True, True, True, False, False, True]
    assert (sensor.lost, sensor.dropped) == (2, 2)
    sensor.close()


def test_the_count_may_wrap(box: Box) -> None:
    sensor = opened(box, sample_hz=1000.0)
    box.send(record(2**32 - 1, ft_sequence=2**32 - 1), record(0, ft_sequence=0), record(1, ft_sequence=1))
    stamps = [sample.stamp_s for sample in (sensor.read() for _ in range(3)) if sample is not None]
    assert [later - stamps[0] for later in stamps if later and stamps[0]] == pytest.approx([0.0, 0.001, 0.002])
    assert sensor.lost == 0
    sensor.close()


def test_a_packet_of_a_wrong_length_is_dropped_with_a_sentence(box: Box) -> None:
    sensor = opened(box)
    box.send(b"hello", record(1) + b"more", record(1))
    assert (sensor.read(), sensor.read()) == (None, None)
    assert sensor.note == "2 packets had a wrong length (the last one 40 bytes, not 36)"
    assert sensor.read() is not None
    assert sensor.note == ""
    sensor.close()


def test_an_error_of_the_box_is_a_missing_reading_with_its_status(box: Box) -> None:
    sensor = opened(box)
    box.send(record(1, status=0x8002_0000), record(2, status=0x0001_0000))
    first, second = sensor.read(), sensor.read()
    assert first is not None
    assert second is not None
    assert (first.state, second.state) == ("missing", "good")
    sensor.close()


def test_a_silent_box_is_asked_again_and_may_count_from_the_start(box: Box) -> None:
    sensor = opened(box, silence_s=0.02)
    box.send(record(500))
    assert sensor.read() is not None
    assert sensor.read() is None
    assert sensor.note.startswith("it sends nothing; check its power, its cable and that no other client uses it")
    assert box.request() == (HEADER, STREAM, 0)
    box.send(record(1))
    while (sample := sensor.read()) is None:  # a busy machine may take longer than the silence
        pass
    assert sample.state == "good"
    assert sensor.note == ""
    assert sensor.lost == 0
    sensor.close()


def test_a_box_that_restarts_without_a_silence_is_followed(box: Box) -> None:
    sensor = opened(box)
    box.send(record(900), *(record(number) for number in range(1, 8)))
    used = [sensor.read() is not None for _ in range(8)]
    assert used == [True, False, False, False, False, True, True, True]
    sensor.close()


def test_packets_of_others_are_not_read(box: Box) -> None:
    sensor = opened(box, silence_s=0.02)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(record(1, (9_000_000,) * 6), box.client)
    assert sensor.read() is None
    sensor.close()


def test_a_port_where_nothing_listens_is_reported(box: Box) -> None:
    sensor = NetFtSensor(NetFt(host="127.0.0.1", port=box.port, silence_s=0.02))
    box.close()
    sensor.open()
    assert sensor.read() is None
    assert sensor.note.startswith("it refuses the connection; check sensor.host and sensor.port")
    sensor.close()
