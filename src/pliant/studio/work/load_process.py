"""Open a recording in its own process: ``python -m pliant.studio.work.load_process RECORDING`` prints it as JSON."""

from __future__ import annotations

import sys

from pliant.errors import PliantError
from pliant.studio.wire import in_words, text_of
from pliant.studio.work import archive


def main(name: str) -> str:
    """The recording as the page reads it, or the error."""
    try:
        return text_of(archive.open_recording(name))
    except PliantError as error:
        return text_of(in_words(error))


if __name__ == "__main__":
    print(main(sys.argv[1]))
