"""How the pages are checked, and how the page of figures is made from what experiments have printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from docs_modules import docs_module

ROOT = Path(__file__).parents[2]


check, figures = docs_module("check"), docs_module("figures")


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what `pliant experiment made-up --json` printed."""
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    found = [{"name": f"case {k}: peak", "value": 5.0 + k, "unit": "N"} for k in range(3)]
    (tmp_path / "experiment-made-up.json").write_text(json.dumps({"figures": found}))
    return tmp_path


def test_a_row_shows_the_largest_of_the_figures_that_match_or_the_smallest(printed: Path) -> None:
    row = figures.Row("peaks", "experiment made-up", "{:.1f} to {:.1f} N", ("min:: peak$", ": peak$"))
    assert figures.line(row) == "| peaks | 5.0 to 7.0 N | `pliant experiment made-up` |"


def test_a_figure_that_was_renamed_is_an_error_and_not_a_gap(printed: Path) -> None:
    row = figures.Row("peaks", "experiment made-up", "{:.1f} N", ("^largest peak",))
    with pytest.raises(SystemExit, match="no figure of 'pliant experiment made-up' matches"):
        figures.line(row)


def test_what_was_not_measured_is_said_so(printed: Path) -> None:
    row = figures.Row("speed", "bench tick", "{:.1f} µs", ("^tick",))
    assert figures.MISSING in figures.line(row)


def test_the_published_page_is_made_from_the_kept_figures() -> None:
    assert figures.PAGE.read_text() == figures.page()


def test_a_named_file_that_does_not_exist_is_found_with_its_line() -> None:
    text = "Code: `src/pliant/control/laws/admittance.py`.\n\nAnd `src/pliant/laws/nothing.py`.\n"
    assert list(check.check_files(text)) == ["3: there is no file src/pliant/laws/nothing.py"]


def test_a_shown_example_that_does_not_exist_is_found() -> None:
    text = "<!-- The code of examples/99_nothing.py, written by make reference -->\n```python\npass\n```\n"
    assert list(check.check_files(text)) == ["1: there is no file examples/99_nothing.py"]


@pytest.mark.parametrize("path", check.generate.PAGES, ids=lambda path: path.name)
def test_a_generated_page_is_up_to_date(path: Path) -> None:
    assert path.read_text() == check.generate.PAGES[path](), "run: make reference"


def test_the_code_of_an_example_in_a_page_is_replaced_by_its_present_code(tmp_path: Path) -> None:
    examples, page = docs_module("generate_code"), tmp_path / "page.md"
    name = next(iter(sorted((ROOT / "examples").glob("*.py")))).name
    start = f"Before.\n\n<!-- The code of examples/{name}, written by make reference -->\n```python\n"
    page.write_text(f"{start}old = 1\n```\n\nAfter.\n")
    assert examples.with_examples(page) == f"{start}{(ROOT / 'examples' / name).read_text()}```\n\nAfter.\n"


def test_the_api_pages_show_signatures_fields_and_docstrings() -> None:
    text = (ROOT / "docs" / "reference" / "api-pliant.md").read_text()
    for words in ("## simulate", "    task: Task,", "| `wrench` | The input of the law", "### Simulation.reset"):
        assert words in text


def test_an_example_that_no_page_shows_is_found() -> None:
    assert list(check.check_examples([])) == [
        f"examples/{path.name}:1: no page in docs/howto shows this example"
        for path in sorted((ROOT / "examples").glob("*.py"))
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pliant nothing dome", "1: there is no command 'pliant nothing'"),
        ("pliant check dome\npliant run push --fst", "2: 'pliant run push --fst' is wrong: No such option: --fst"),
        ("make demo && pliant tare --duration x", "1: 'pliant tare --duration x' is wrong"),
        (
            "pliant run lab # then pliant\npush 10 N along x; it moves",
            "2: 'push 10 N along x; it moves' does not begin",
        ),
    ],
)
def test_a_command_that_would_not_run_is_found(text: str, problem: str) -> None:
    (found,) = check.check_commands(check.Block("sh", text, 1, True))
    assert found.startswith(problem)


def test_commands_that_would_run_are_in_order() -> None:
    text = "A=1 .venv/bin/pliant push -5 0 --loop NAME && make site &  # x; y\npliant run --help\nsource activate"
    assert not list(check.check_commands(check.Block("sh", text, 1, True)))
    assert not list(check.check_commands(check.Block("console", "$ pliant set a.b 1\npliant: rejected", 1, True)))


def test_a_page_that_the_menu_does_not_list_is_found() -> None:
    menu = (ROOT / "zensical.toml").read_text()
    assert not list(check.check_navigation(menu))
    assert list(check.check_navigation(menu.replace('"tuning.md"', ""))) == [
        "docs/tuning.md:1: this page is missing in nav in zensical.toml"
    ]
