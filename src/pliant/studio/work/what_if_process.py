"""A what-if in its own process: ``python -m pliant.studio.work.what_if_process RECORDING``; parameters on stdin."""

from __future__ import annotations

import sys

from pliant.errors import PliantError
from pliant.studio.wire import in_words, text_of
from pliant.studio.work import archive


def main(name: str, parameters: str) -> str:
    """The run with other parameters as the page reads it, or the error."""
    try:
        return text_of(archive.what_if(name, parameters))
    except PliantError as error:
        return text_of(in_words(error))


if __name__ == "__main__":
    print(main(sys.argv[1], sys.stdin.read()))
