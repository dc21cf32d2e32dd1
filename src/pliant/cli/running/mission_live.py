"""Run a mission in real time for the command line, together with the ROS 2 bridge."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from pliant.cli.running.bridging import bridge, may_follow
from pliant.cli.running.mission_run import STAGE_WORDS, say_mission, stages_table, until_ctrl_c
from pliant.cli.show import err, figures_table, out
from pliant.errors import MissionError, RecordingError
from pliant.loop.saving import NOW, end_recorder, follow, recording_problem
from pliant.mobile.mission.mission_link import MissionSession
from pliant.mobile.mission.mission_task import MissionTask
from pliant.mobile.mission.stage_machine import DONE, STOPPED


def run_live(task: MissionTask, recording: Path, picture: Path, *, name: str | None, yes: bool) -> int:
    """Run a mission in real time, to its end or to Ctrl-C, and write a recording and a picture."""
    from pliant.analysis.mission_figures import mission_figures, recorded_mission, save_picture
    from pliant.record.reader import Recording

    say_mission(task, "simulated in real time")
    agreed = may_follow(task, yes=yes)
    with until_ctrl_c() as go_on, MissionSession(task, name=name) as session, bridge(session, agreed=agreed):
        recorder = follow(session.board.path, recording, NOW)
        while not session.board.recording and recorder.poll() is None:
            time.sleep(0.005)
        if go_on():
            session.begin()
        _until_over(session, go_on)
        session.stop()
        interrupted = not go_on()
        end_recorder(recorder)
        if problem := recording_problem(recorder):
            raise RecordingError(recording, problem)
    mission_log = recorded_mission(Recording.load(recording))
    out.print(stages_table(mission_log.log))
    figures = mission_figures(mission_log)
    out.print(figures_table(figures, task.name))
    save_picture(mission_log, picture)
    out.print(f"Recording: {recording}\nPicture: {picture}")
    if interrupted:
        out.print("Stopped by Ctrl-C: base and arm stopped before the goal.")
        return 0
    if not mission_log.log or mission_log.log[-1].stage != DONE:
        stops = [change.reason for change in mission_log.log if change.stage == "stopping"]
        raise MissionError(stops[-1] if stops else "a stop was requested")
    return 0 if all(figure.met for figure in figures) else 1


def _until_over(session: MissionSession, go_on: Callable[[], bool]) -> None:
    """Print each stage as it begins, with the reason, until the mission ends; Ctrl-C brakes and ends it."""
    printed, halted = 0, False
    while session.running:
        mission_log = session.mission_log
        for time_s, stage, reason in mission_log["account"]["log"][printed:]:
            err.print(f"{time_s:.2f} s: {STAGE_WORDS.get(stage, stage)} ({reason}).")
            printed += 1
        if not mission_log["moving"] and (mission_log["stage"] in (DONE, STOPPED) or not go_on()):
            return
        if not go_on() and not halted:
            err.print("Stopping.")
            session.halt()
            halted = True
        time.sleep(0.05)
