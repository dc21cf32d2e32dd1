"""A file that is cut off, damaged or something else altogether is explained in one sentence."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.writer import Writer

import pliant.record.record_messages as messages
import pliant.record.tick_block as block
from pliant.control.published import Published
from pliant.errors import InputError, RecordingError
from pliant.record import Recording, RecordingWriter
from pliant.record.container import walk
from pliant.records import MODES, Field, Layout


@pytest.fixture
def records(random_run):
    records = random_run(350, rate_hz=100.0)
    records["revision"] = np.arange(350) // 100
    return records


@pytest.fixture
def path(tmp_path, records, joint_names, parameters) -> Path:
    """A good recording of four chunks: 100, 100, 100 and 50 records, a new parameter set in each."""
    path = tmp_path / "run.mcap"
    with RecordingWriter(path, {"robot": "sim:ur5e"}, joint_names, parameters) as writer:
        for revision in range(4):
            writer.parameters(revision, parameters.new()[0], float(revision))
            writer.append(records[100 * revision : 100 * (revision + 1)])
    return path


def chunk_ends(path: Path) -> list[int]:
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    return [chunk.chunk_start_offset + chunk.chunk_length for chunk in summary.chunk_indexes]


@pytest.mark.slow
def test_a_file_cut_anywhere_gives_all_complete_chunks(path, records):
    data = path.read_bytes()
    ends = chunk_ends(path)
    assert len(ends) == 4
    boundaries = {end for _, _, end in walk(data, 8)}
    cuts = {at + d for at in boundaries for d in (-9, -1, 0, 1, 8, 9, 10)} | {len(data) - d for d in range(1, 40)}
    for cut in sorted(c for c in cuts if ends[0] <= c < len(data)):
        path.write_bytes(data[:cut])
        kept = min(100 * sum(end <= cut for end in ends), 350)
        with pytest.raises(RecordingError, match="is truncated") as error:
            Recording.load(path)
        assert f"({kept} records) can be recovered. To load them, use --partial" in str(error.value)
        read = Recording.load(path, partial=True)
        assert not read.complete
        assert read.records.tobytes() == records[:kept].tobytes()
        assert set(read.records["revision"]) <= {p.revision for p in read.parameters}
        assert read.meta == {"robot": "sim:ur5e"}


def test_a_file_cut_before_its_first_chunk_holds_nothing(path):
    data = path.read_bytes()
    first = chunk_ends(path)[0]
    for cut in [1, 7, 8, 9, 20, *range(30, first, 997), first - 1]:
        path.write_bytes(data[:cut])
        for partial in (False, True):
            with pytest.raises(RecordingError, match="ends before its first chunk is complete"):
                Recording.load(path, partial=partial)


def test_the_sentence_tells_how_many_seconds_are_left(path):
    path.write_bytes(path.read_bytes()[: chunk_ends(path)[2]])
    with pytest.raises(RecordingError) as error:
        Recording.load(path)
    said = "is truncated: 3.0 s (300 records) can be recovered. To load them, use --partial (in Python: partial=True)."
    assert str(error.value) == f"{path} {said}"


def test_a_writer_that_never_closed_loses_at_most_the_last_second(tmp_path, records, joint_names):
    path = tmp_path / "run.mcap"
    writer = RecordingWriter(path, {}, joint_names)
    for record in records:
        writer.append(record)
    read = Recording.load(path, partial=True)
    assert records["time_s"][-1] - read.records["time_s"][-1] <= 1.0
    writer.close()
    assert Recording.load(path).complete


def test_a_flipped_bit_in_a_chunk_costs_that_chunk_and_is_told(path, records):
    data = bytearray(path.read_bytes())
    data[chunk_ends(path)[1] - 1000] ^= 4
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"is damaged in 1 place: 3\.5 s \(250 records\) can be recovered"):
        Recording.load(path)
    read = Recording.load(path, partial=True)
    assert read.records.tobytes() == np.concatenate([records[:100], records[200:]]).tobytes()
    assert (read.complete, read.lost) == (False, 100)


def test_a_damaged_file_of_full_length_is_not_called_truncated(path):
    data = bytearray(path.read_bytes())
    data[8:-8] = bytes(len(data) - 16)
    path.write_bytes(data)
    for partial in (False, True):
        with pytest.raises(RecordingError, match=r"is damaged, so no record can be recovered"):
            Recording.load(path, partial=partial)


@pytest.mark.parametrize("path", [3, None, ""])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InputError, match=r"path is .*, but it must be the path of a recording \(\.mcap\)"):
        Recording.load(path)


def test_random_damage_never_leaks_an_exception_of_a_library(path):
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        hurt = bytearray(data)
        for at in rng.integers(8, len(data), size=3):
            hurt[at] = rng.integers(256)
        if rng.random() < 0.3:  # the start of the file is where the definitions are
            hurt[rng.integers(8, 9000)] = rng.integers(256)
        path.write_bytes(hurt)
        with contextlib.suppress(RecordingError):
            Recording.load(path, partial=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty. To make a recording: pliant run push --record push.mcap"),
        (b"tick,time\n1,0.002\n", "is not an MCAP file. Give a recording (.mcap)."),
        (
            b"\x89PNG\r\n\x1a\n" + bytes(100),
            "is not an MCAP file. Give a recording (.mcap).",
        ),
        (
            b"\x89MCAP0\r",
            "ends before its first chunk is complete, so no record can be recovered. Record the run again.",
        ),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path, content, said):
    path = tmp_path / "run.mcap"
    path.write_bytes(content)
    with pytest.raises(RecordingError) as error:
        Recording.load(path)
    assert str(error.value) == f"{path} {said}"


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RecordingError, match="does not exist"):
        Recording.load(tmp_path / "no.mcap")
    with pytest.raises(RecordingError, match="is a folder, not a recording"):
        Recording.load(tmp_path)


def foreign(path: Path, topic: str, definition: str, message: bytes, library: str = "somebody") -> None:
    """A good file of the mcap library itself, with one message."""
    stream = io.BytesIO()
    writer = Writer(stream)
    writer.start("ros2", library)
    schema = writer.register_schema("pliant_msgs/msg/Telemetry", "ros2msg", definition.encode())
    channel = writer.register_channel(topic, "cdr", schema)
    writer.add_message(channel, 0, message, 0)
    writer.finish()
    path.write_bytes(stream.getvalue())


def test_a_recording_of_another_program_lists_its_topics(tmp_path):
    foreign(tmp_path / "run.mcap", "/camera", "float64 a", bytes(12))
    with pytest.raises(RecordingError, match=r"was not recorded by Pliant.*\(topics: /camera\)"):
        Recording.load(tmp_path / "run.mcap")


def test_a_record_of_another_layout_names_the_version_and_the_field(tmp_path):
    older = Layout("Telemetry", tuple(f for f in Published().layout.fields if f.name != "timing"))
    foreign(tmp_path / "run.mcap", block.TELEMETRY_TOPIC, messages.definition(older), bytes(12), "pliant 0.0.3")
    with pytest.raises(RecordingError, match=r"was written by pliant 0\.0\.3.*: timing is missing\."):
        Recording.load(tmp_path / "run.mcap")
    foreign(tmp_path / "run.mcap", block.TELEMETRY_TOPIC, "string what", bytes(12), "pliant 0.0.1")
    with pytest.raises(RecordingError, match=r"pliant 0\.0\.1.*definition cannot be read"):
        Recording.load(tmp_path / "run.mcap")


def test_new_words_in_a_comment_do_not_make_another_layout(tmp_path, random_run):
    published = Published(6, MODES)
    fields = published.layout.fields
    reworded = Layout("Telemetry", tuple(Field(f.name, f.unit, "new words", f.shape, f.kind) for f in fields))
    record = random_run(1)
    data = messages.CDR_HEADER + published.pack(record)[0].tobytes()[: published.layout.dtype.itemsize]
    foreign(tmp_path / "run.mcap", block.TELEMETRY_TOPIC, messages.definition(reworded), data)
    assert Recording.load(tmp_path / "run.mcap").records.tobytes() == record.tobytes()
