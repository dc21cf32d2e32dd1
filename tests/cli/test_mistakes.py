"""Files that cannot be used, words that are no commands and robots that do not fit: each has its own sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.words import say


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("start",),
            "Unknown command 'start'. It is a command to the contact: pliant command start. "
            "To start a task: pliant run TASK.",
        ),
        (
            ("pause",),
            "Unknown command 'pause'. It is a command to the contact: pliant command pause. Try 'pliant --help'.",
        ),
        (("replay", "."), "is a folder, not a recording. Give a .mcap file."),
        (("run", "push", "--fast", "--record", "out.txt"), "--record is 'out.txt', but it must end in .mcap."),
        (("run", "push", "--fast", "--record", "/proc/out.mcap"), "/proc/out.mcap: no file can be created in this"),
        (("demo", "--folder", "/proc/x"), "Cannot write /proc/x/demo.mcap: the folder /proc/x cannot be created."),
        (("plot", "a.mcap", "-o", "d.gif"), "--output is 'd.gif', but it must end in .png, .svg or .pdf."),
        (("plot", "a.mcap", "--report", "d.txt"), "--report is 'd.txt', but it must end in .html or .htm."),
        (("check", "dome", "--plot", "x.xyz"), "--plot is 'x.xyz', but it must end in .png, .svg or .pdf."),
        (("emulate", "--trace", "t.csv"), "--trace is 't.csv', but it must end in .npy."),
        (("push", "0", "0", "0"), "The push is zero. Give a force, as in pliant push 10 0 0."),
        (("goal", "--by"), "--by needs the numbers to add, as in pliant goal --by 0 0 0.05."),
        (("run", "push", "--fast", "--robot", "sim:ur20"), "Unknown arm 'ur20'. Known: "),
        (("info", "sim:ur20"), "A URDF or MJCF file works too: my_arm.urdf (as a robot: sim:my_arm.urdf)."),
        (("identify", "payload", ".", "--write"), ". is a folder. Give the name of a task file."),
        (("cache", "empty"), "Unknown action 'empty'. Known: show, warm, prune, clear."),
        (
            ("run", "lab", "--robot", "ur:127.51.0.9"),
            "Task lab is for two_link (2 joints), but ur:127.51.0.9 is a ur5e",
        ),
        (
            ("identify", "payload", "lab", "--fast"),
            "identify payload needs an arm with a wrist (at least three joints); two_link has 2.",
        ),
    ],
)
def test_each_mistake_says_what_is_allowed_and_does_nothing(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = say(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
