"""A test whose needs are not met is skipped with what installs them, and fails where everything must be there."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support import needs

ABSENT = {
    "one": needs.Need("one thing", lambda: False, "a script installs it"),
    "two": needs.Need("another", lambda: False, "nothing installs it"),
    "here": needs.Need("a third", lambda: True, ""),
}
Tally = runpy.run_path(str(Path(__file__).with_name("run.py")))["Tally"]


@pytest.fixture(autouse=True)
def _absent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, need in ABSENT.items():
        monkeypatch.setitem(needs.NEEDS, name, need)
    monkeypatch.delenv("CI", raising=False)


def test_everything_that_is_missing_is_one_line_with_its_remedy() -> None:
    line = "^needs one thing: a script installs it; needs another: nothing installs it$"
    with pytest.raises(pytest.skip.Exception, match=line):
        needs.require("one", "here", "two")


def test_where_everything_must_be_there_a_missing_thing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    needs.require("here")
    with pytest.raises(pytest.fail.Exception, match="needs one thing: a script installs it"):
        needs.require("one")


def test_every_fixture_of_the_table_marks_its_tests_as_optional(request: pytest.FixtureRequest) -> None:
    assert needs.needs_of(request.node) == []
    request.node.fixturenames.append("browser")
    assert needs.needs_of(request.node) == ["chromium"]


def test_the_last_line_counts_passed_failed_and_skipped() -> None:
    passed = "<testcase/><testcase/>"
    skipped = '<testcase><skipped message="needs Chromium: a script installs it"/></testcase>'

    def said(cases: str, code: int = 0) -> str:
        tally = Tally()
        tally.add(ElementTree.fromstring(f"<suite>{cases}</suite>").iter("testcase"))
        return tally.sentence(250.4, code)

    assert said(passed) == "All 2 tests passed in 4 min 10 s."
    assert said(passed + skipped) == "All 2 tests passed in 4 min 10 s; 1 skipped: needs Chromium (1)."
    assert said(passed + "<testcase><error/></testcase>", 1) == "1 of 3 tests FAILED in 4 min 10 s."
    assert said(passed, 124) == "The tests did NOT finish (exit code 124) after 4 min 10 s; 2 passed, 0 failed."
