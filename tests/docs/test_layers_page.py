"""The architecture page draws the layers that the tests check."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

from test_architecture import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def drawn_rows(page: str) -> list[tuple[str, ...]]:
    """The layers as a page draws them: in the first code block after its heading, a row of names on each line."""
    block = page.split("## Layers", 1)[1].split("```")[1]
    known = {layer for row in ROWS for layer in row}
    names = (takewhile(known.__contains__, line.split()) for line in block.strip().splitlines())
    return [tuple(dict.fromkeys(row)) for row in names]


def test_the_page_draws_the_layers_that_are_checked() -> None:
    page = PAGE.read_text()
    assert drawn_rows(page) == list(ROWS)
    assert drawn_rows(page.replace("\nbridge ", "\n")) != list(ROWS)
