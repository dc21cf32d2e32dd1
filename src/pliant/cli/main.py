"""`pliant`: the executable. Verbs import what they need when they run, so that help is fast.

Exit codes: 0 done (Ctrl-C is a normal stop); 1 a target was missed, a replay differs or the doctor found something;
2 bad input; 3 the robot or the loop stopped by a fault.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from typing import Any

import typer
from typer.exceptions import TyperException

from pliant.cli.help_format import Command, Group
from pliant.cli.live import command, goal, push, stop, tare
from pliant.cli.live import set as set_verb
from pliant.cli.options import checked
from pliant.cli.running import demo, emulate, run, studio
from pliant.cli.tools import bench, cache, check, doctor, experiment, identify, info, plan, plot, replay
from pliant.errors import PliantError
from pliant.loop.processes import collect_seldom

app = typer.Typer(
    name="pliant",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: [bold]pliant run push --record push.mcap && pliant plot push.mcap[/bold]",
)


# A package that prints a complaint at exit for each of its objects that was not freed.
_COUNTS_LEFTOVERS = {"ompl"}
# The exit code with which the command line parser reports Ctrl-C.
_INTERRUPTED = 130


def _version(wanted: bool) -> None:
    if wanted:
        from pliant.loop.run_description import versions

        print(" ".join(f"{name} {version}" for name, version in versions().items()))
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print versions of Pliant and its packages."
    ),
) -> None:
    """Compliant control for robot arms, simulated and real.
    Exit codes: 0 done, 1 target missed or problem found, 2 bad input, 3 fault.
    """


_WITH_A_ROBOT = (demo, run, studio, check, info, set_verb, goal, command, push, stop, tare, identify)
_WITHOUT = (emulate, plan, plot, doctor, replay, experiment, bench, cache)


def _help(text: str) -> str:
    """A docstring whose paragraphs are single lines, so that the help wraps at the width of the terminal."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


for verb in (*_WITH_A_ROBOT, *_WITHOUT):
    name = verb.__name__.rpartition(".")[2]
    # `pliant set NAME -4` means the number, not an option
    settings = {"ignore_unknown_options": True} if verb in (set_verb, goal, push) else None
    if verb is experiment:  # each has options of its own, which it declares
        settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    text = _help(verb.command.__doc__)
    register = app.command(name, cls=Command, help=text, epilog=verb.EXAMPLE, context_settings=settings)
    register(checked(name, verb.command))


# What a value must be, by the kind of the parser's complaint.
_KINDS = {"int_parsing": "a whole number", "int_from_float": "a whole number", "float_parsing": "a number"}


def _sentence(error: TyperException) -> str:
    """The error of the command line parser in our words: what is wrong, and where the help is."""
    text = " ".join(getattr(error, "format_message", lambda: str(error))().split()).rstrip(" ,.")
    text = _law_command(text) or re.sub(r"No such command ('[^']*')", r"Unknown command \1", text)
    text = re.sub(r"No such option: (\S+)", r"Unknown option \1.", text)
    text = re.sub(r" \(Possible options: (.*)\)", r" Did you mean \1?", text)
    text = re.sub(r"Invalid value for '(-.*?)': (.*) is not one of (.*)", r"\1 is \2, but it must be one of \3", text)
    text = re.sub(r"Invalid value for '(.*?)': (.*) is not one of (.*)", _unknown_word, text)
    text = re.sub(r"Missing argument '(.*?)'(\. Choose from: (.*))?", _missing_word, text)
    text = re.sub(r"Missing option '(-\S+)'", r"\1 is missing", text)
    text = re.sub(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"Unexpected argument: \1", text)
    text = _wrong_kind(error) or text.replace("Value error, ", "").replace("Input should be ", "it must be ")
    context = getattr(error, "ctx", None)
    verb = f" {context.info_name}" if context is not None and context.parent is not None else ""
    end = "" if text.endswith((".", "?")) else "."
    return f"{text}{end} Try 'pliant{verb} --help'." if text else ""


def _unknown_word(found: re.Match[str]) -> str:
    return f"Unknown {found[1].lower()} {found[2]}. Known: {found[3].replace(chr(39), '')}"


def _missing_word(found: re.Match[str]) -> str:
    choices = " ".join((found[3] or "").replace(",", ", ").split())
    return f"{found[1].upper()} is missing{f': give one of {choices}' if choices else ''}"


def _law_command(text: str) -> str:
    """The sentence about an unknown command that `pliant command` knows; empty for any other error."""
    found = re.match(r"No such command '([^']*)'", text)
    if found is None:
        return ""
    from pliant.control.laws.registry import LAWS

    name = found[1]
    law = next((law for law in LAWS.values() if law.commands and name in law.commands.numbers), None)
    if law is None or law.commands is None:
        return ""
    more = " To start a task: pliant run TASK." if name == law.commands.starts else ""
    return f"Unknown command '{name}'. It is a command to the {law.subject}: pliant command {name}.{more}"


def _wrong_kind(error: TyperException) -> str:
    """The sentence about a value that is not of the kind of its option or argument; empty for any other error."""
    details: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    parameter: Any = getattr(error, "param", None)
    if not details or parameter is None or details[0]["type"] not in _KINDS:
        return ""
    names = [name for name in parameter.opts if name.startswith("--")] or [str(parameter.name)]
    return f"{names[0]} is {details[0]['input']!r}, but it must be {_KINDS[details[0]['type']]}."


def main() -> None:
    """Entry point: every error of ours is one sentence on standard error and an exit code."""
    collect_seldom()
    # Read when NumPy is loaded. Our matrices are small, and on a busy machine the threads of BLAS wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        result = app(standalone_mode=False)
        code = result if isinstance(result, int) else 0
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
    except PliantError as error:
        print(f"pliant: {error}", file=sys.stderr)
        code = error.exit_code
    except typer.Exit as error:
        code = error.exit_code
    except TyperException as error:
        said = _sentence(error)
        if said:  # an empty message means that the help was shown
            print(f"pliant: {said}", file=sys.stderr)
        code = 2 if said else 0
    except (KeyboardInterrupt, typer.Abort):
        print("Stopped by Ctrl-C before the end. No result was produced.", file=sys.stderr)
        code = 0
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except OSError as error:
        print(f"pliant: Cannot use {error.filename or 'a file'}: {error.strerror or error}.", file=sys.stderr)
        code = 2
    atexit.register(_leave)
    sys.exit(code)


def _leave() -> None:
    """Skip the last garbage collection: it takes most of a second, and the system frees the memory anyway."""
    if not _COUNTS_LEFTOVERS & sys.modules.keys():
        gc.freeze()


if __name__ == "__main__":
    main()
