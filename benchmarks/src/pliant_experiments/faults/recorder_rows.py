"""Rows: the recorder dies or hangs, the disk is full, the folder cannot be written, a recording is damaged."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from pathlib import Path

import numpy as np

from pliant.errors import PliantError
from pliant.loop.boards.board_files import alive, process_state
from pliant.record.reader import Recording
from pliant_experiments.faults.fault_rig import RATE_HZ, Rig, Run, after, is_gone, readable_ticks
from pliant_experiments.faults.fault_row import Seen, row
from pliant_experiments.faults.loop_rows import PATIENT, full

RECORDER, DISK, FOLDER, RECORDING = "recorder", "disk", "folder", "recording"
# A run whose recorder hangs must end within this time [s].
BOUND_S = 15.0
# A process that may write no more than this into a file meets the same error as on a full disk [bytes].
FULL_BYTES = 30_000


def _ends_incomplete(run: Run, seen: Seen) -> None:
    run.send(signal.SIGINT)
    seen.must(run.ended() is not None and run.code == 2, "the run ends with exit code 2")
    seen.must("is incomplete" in run.err, "it says that the recording is incomplete")
    seen.must("peak tool speed" in run.out, "the summary is printed")


@row(11, RECORDER, "killed", "the loop is untouched, it is reported at once, the file is readable to its last chunk")
def recorder_killed(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True).until_tick(600)
    os.kill(run.recorder, signal.SIGKILL)
    told = after(lambda: "The loop keeps running" in run.err)
    seen.must(told is not None, "it is reported while the loop runs")
    seen.must(run.ticks_on(), "the loop ticks on")
    ticks = readable_ticks(run.recording)
    seen.must(ticks > 0, f"{ticks} ticks are readable")
    _ends_incomplete(run, seen)


@row(
    12,
    RECORDER,
    "stopped for longer than shared memory lasts",
    "the loop is untouched, the loss is reported",
    quick=False,
)
def recorder_suspended(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    os.kill(run.recorder, signal.SIGSTOP)
    after(lambda: False, 12.0)
    seen.must(run.ticks_on(), "the loop ticks on")
    os.kill(run.recorder, signal.SIGCONT)
    run.ticks_on(round(RATE_HZ))
    _ends_incomplete(run, seen)
    seen.must("records were lost" in run.err, "the number of lost records is reported")
    seen.must(readable_ticks(run.recording) > RATE_HZ, "the rest is readable")


@row(13, RECORDER, "stopped when the loop ends", "its owner ends in bounded time")
def recorder_stopped_at_the_end(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    os.kill(run.recorder, signal.SIGSTOP)
    after(lambda: process_state(run.recorder) == "T")
    run.send(signal.SIGINT)
    seen.safe_s = after(lambda: not alive(run.loop))
    waited = run.ended()
    seen.must((waited or PATIENT) <= BOUND_S, f"it ends within {BOUND_S:g} s")
    seen.must(run.code == 0 and readable_ticks(run.recording) == run.board.head, "the recording is complete")


@row(14, "recorder and loop", "both killed", "the owner saves the black box")
def recorder_and_loop_killed(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short)
    pid = run.loop
    os.kill(run.recorder, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    seen.safe_s = after(lambda: not alive(pid))
    seen.must(run.ended() is not None and run.code == 3, "exit code 3")
    seen.saved = rig.has_last_seconds(run)
    seen.must(seen.saved, "the black box holds the last seconds")
    seen.must(is_gone(run), "no shared memory is left")


@row(15, DISK, "full while recording", "the loop is untouched, it is reported in a sentence, the file is readable")
def full_while_recording(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    most = run.recording.stat().st_size + 300_000
    resource.prlimit(run.recorder, resource.RLIMIT_FSIZE, (most, most))
    told = after(lambda: "The loop keeps running" in run.err)
    seen.must(told is not None, "it is reported while the loop runs")
    seen.must("Traceback" not in run.err and "Cannot write" in run.err, "in a sentence")
    seen.must(run.ticks_on(), "the loop ticks on")
    seen.must(readable_ticks(run.recording) > 0, "the file is readable")
    _ends_incomplete(run, seen)


def _faulty(rig: Rig, at_s: float) -> Path:
    """A task that is pushed harder than its sensor can measure."""
    push = {"at_s": at_s, "for_s": 60.0, "ramp_s": 0.0, "wrench": [90.0, 90.0, 90.0, 0.0, 0.0, 0.0]}
    sim = {"sensor": {"range_n": 40.0}, "pushes": [push]}
    return rig.task(sim=sim, params={"sense": {"hold_s": 0.05}}, duration_s=20.0)


@row(16, DISK, "full at a fault", "the fault is reported, with the exit code of a fault")
def full_at_a_fault(rig: Rig, seen: Seen, short: bool) -> None:
    run = rig.run(task=_faulty(rig, 3.0), record=False).until_tick(100)
    for pid in (run.pid, run.loop):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (FULL_BYTES, FULL_BYTES))
    seen.must(run.ended() is not None and run.code == 3, "exit code 3")
    seen.must("force sensor reported saturation" in run.err, "the fault is reported")
    seen.must("the last seconds could not be saved" in run.err, "so is that they could not be saved")
    seen.must("Traceback" not in run.err, "in a sentence")


@row(17, DISK, "full at a fault of a run with --fast", "the fault is reported, with the exit code of a fault")
def full_at_a_fast_fault(rig: Rig, seen: Seen, short: bool) -> None:
    for more in ((), ("--record", rig.folder / "fast.mcap")):
        done = rig.pliant("run", _faulty(rig, 0.5), "--fast", *more, file_bytes=FULL_BYTES)
        seen.must(done.ended() is not None and done.code == 3, "exit code 3")
        seen.must("force sensor reported saturation" in done.err, "the fault is reported")
        seen.must("could not be saved: Cannot write" in done.err and "Traceback" not in done.err, "in a sentence")


@row(18, FOLDER, "cannot be written", "rejected before the robot moves")
def unwritable_folder(rig: Rig, seen: Seen, short: bool) -> None:
    (rig.folder / "file").write_text("")
    for place in (Path("/proc/run.mcap"), rig.folder / "file" / "run.mcap"):
        done = rig.said("run", rig.task(), "--record", place)
        seen.must(done.code == 2 and "Cannot write" in done.err, "exit code 2, with the reason")
        seen.must("peak tool speed" not in done.out, "nothing has run")


def _recorded(rig: Rig) -> bytes:
    path = rig.folder / "sound.mcap"
    rig.said("run", rig.task(duration_s=4.0), "--fast", "--record", path)
    return path.read_bytes()


def _load(path: Path, *, partial: bool) -> int:
    """Ticks of a damaged recording; -1 if it is rejected with an error of Pliant. Any other error passes through."""
    with contextlib.suppress(PliantError):
        return len(Recording.load(path, partial=partial).records)
    return -1


@row(19, RECORDING, "cut off at any place", "rejected, or read up to its last complete chunk")
def cut(rig: Rig, seen: Seen, short: bool) -> None:
    sound, random, path = _recorded(rig), np.random.default_rng(19), rig.folder / "cut.mcap"
    counts = []
    for at in random.integers(0, len(sound), 40 if short else 200):
        path.write_bytes(sound[: int(at)])
        counts.append((_load(path, partial=True), _load(path, partial=False)))
    partly = sum(ticks > 0 for ticks, _ in counts)
    seen.must(all(whole == -1 for _, whole in counts), f"none of {len(counts)} is taken for complete")
    seen.must(partly > 0, f"{partly} can be read in part")


@row(20, RECORDING, "bytes overwritten, bits flipped", "rejected or harmless")
def damaged(rig: Rig, seen: Seen, short: bool) -> None:
    sound, random, path = _recorded(rig), np.random.default_rng(20), rig.folder / "damaged.mcap"
    many = 40 if short else 300
    for i in range(many):
        data = bytearray(sound)
        for at in random.integers(0, len(data), 1 + i % 20):
            data[at] = data[at] ^ (1 << int(random.integers(8))) if i % 2 else int(random.integers(256))
        path.write_bytes(bytes(data))
        _load(path, partial=bool(i % 3))
    seen.must(True, f"{many} damaged files: each is rejected with a sentence or read")
