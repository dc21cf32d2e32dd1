"""Open a recording in its own process: ``python -m pliant.studio.load RECORDING`` prints it as JSON."""

from __future__ import annotations

import sys

from pliant.errors import PliantError
from pliant.studio import archive
from pliant.studio.wire import in_words, text_of


def main(name: str) -> str:
    """The recording as the page reads it, or the error."""
    try:
        return text_of(archive.open_recording(name))
    except PliantError as error:
        return text_of(in_words(error))


if __name__ == "__main__":
    print(main(sys.argv[1]))
