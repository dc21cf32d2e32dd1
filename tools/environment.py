"""Set up .venv for the Makefile, print progress, and time the steps of a target.

    python3 tools/environment.py announce demo     print what `make demo` does and how long it usually takes
    python3 tools/environment.py base              install both packages in place, and build the Studio's page
    python3 tools/environment.py dev               install the development tools
    python3 tools/environment.py page              rebuild the Studio's page if it has changed or is missing
    python3 tools/environment.py step NAME words…  run a command and record how long it took
    python3 tools/environment.py summary demo      print one line with the time of every step

Output of pip and npm goes to log files in .venv and is shown if they fail. Standard library only: this runs before
anything is installed.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
NODE_FOLDER = VENV / "node"
TIMES = VENV / "times"
STATIC = ROOT / "src" / "pliant" / "studio" / "static"
NOT_MADE = STATIC / "not-made"

REPORT_EVERY_S = 5.0
LINES_OF_A_FAILURE = 25
BEGAN = "began"

# What a step does, and how long it usually takes on two cores with a quick connection. The only other place with these
# durations is the README, which states the sums (tests/tools/test_environment.py).
INSTALL = ("install", "about 40 packages into .venv, and the Studio's page, about 40 s")
TOOLS = ("tools", "the development packages, about 30 s")
COMPILE = ("compile", "the control code, unless it is cached, about 30 s")
GOALS = {
    "demo": (INSTALL, COMPILE, ("run", "push a simulated UR5e, about 15 s")),
    "test": (INSTALL, TOOLS, COMPILE, ("tests", "every capability, about 5 minutes")),
    "test-all": (INSTALL, TOOLS, COMPILE, ("tests", "all tests, about 12 minutes")),
}
IN_ALL = {"demo": "about 1 minute", "test": "about 8 minutes"}
DONE_BEFORE = {"install": VENV / ".ready", "tools": VENV / ".ready-dev"}


class StepError(Exception):
    """A step failed; the text is for the user."""


class Step(threading.Thread):
    """A step that runs in parallel with others; `phase` is its progress, `missing` what it could do without."""

    def __init__(self, name: str, work: Callable[[Step], None]) -> None:
        super().__init__(daemon=True)
        self.label, self.phase, self.failure = name, "starting", ""
        self.missing: list[str] = []
        self._work, self._began, self._took = work, time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        return self._took or time.monotonic() - self._began

    def run(self) -> None:
        try:
            self._work(self)
        except StepError as error:
            self.failure = str(error)
        except Exception as error:  # whatever the error, the step failed
            self.failure = f"{type(error).__name__}: {error}"
        self._took = time.monotonic() - self._began

    def log(self, *words: str | Path, env: dict[str, str] | None = None) -> None:
        """Run a command with its output in the step's log file; a failure shows the end of it."""
        path = VENV / f"{self.label}.log"
        command = [str(word) for word in words]
        with path.open("a") as log:
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
            with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **(env or {})}, **pipes) as process:
                packages = 0
                for line in process.stdout or ():
                    log.write(line)
                    packages += line.startswith("Collecting ")
                    if line.startswith("Collecting "):
                        self.phase = f"{packages} packages found"
                    elif line.startswith("Installing collected packages:"):
                        self.phase = f"unpacking {line.count(',') + 1} packages"
        if process.returncode != 0:
            lines = [line for line in path.read_text().splitlines() if "is ignored: it is neither" not in line]
            said = "\n".join(f"  {line}" for line in lines[-LINES_OF_A_FAILURE:])
            raise StepError(f"{said}\n{self.label}: failed (exit code {process.returncode}). Full log: {path}")


def together(*steps: Step) -> None:
    """Run steps in parallel and print their progress until all are done; exits if one failed."""
    for step in steps:
        (VENV / f"{step.label}.log").unlink(missing_ok=True)
        step.start()
    said, phases = time.monotonic(), [step.phase for step in steps]
    running = list(steps)
    while running:
        running[0].join(0.1)
        for step in [step for step in running if not step.is_alive()]:
            running.remove(step)
            if not step.failure:
                say(f"{step.label}: done in {step.seconds:.0f} s")
                note(step.label, step.seconds)
        now = [step.phase for step in running]
        if running and time.monotonic() - said > REPORT_EVERY_S * (1 if now != phases else 3):
            said, phases = time.monotonic(), now
            say("; ".join(f"{step.label}: {step.phase} ({step.seconds:.0f} s)" for step in running))
    if failed := [step.failure for step in steps if step.failure]:
        sys.exit("\n".join(failed))


def say(text: str) -> None:
    print(f"  {text}", flush=True)


def note(name: str, seconds: float) -> None:
    """Keep the time of a step for the summary."""
    with TIMES.open("a") as file:
        file.write(f"{name}\t{seconds:.1f}\n")


# ---- set-up --------------------------------------------------------------------------------------------------------


def pip(step: Step, *words: str | Path, env: dict[str, str] | None = None) -> None:
    """Install at the pinned versions. Python compiles what is imported, when it is: not all of it beforehand."""
    options = ("--disable-pip-version-check", "--no-input", "--no-compile", "-c", "constraints.txt")
    step.log(PYTHON, "-m", "pip", "install", *options, *words, env={"PIP_PROGRESS_BAR": "off", **(env or {})})


def project() -> tuple[list[str], dict[str, list[str]], list[str]]:
    """What pyproject.toml asks for: dependencies, extras, and what builds the package."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return data["project"]["dependencies"], data["project"]["optional-dependencies"], data["build-system"]["requires"]


def make_venv() -> None:
    """Create an environment with pip, unless it exists."""
    if (VENV / "bin" / "pip").exists():
        return
    say("install: creating .venv")
    done = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout + done.stderr, file=sys.stderr)
        sys.exit(f"{sys.executable} cannot create a virtual environment. On Debian or Ubuntu: apt install python3-venv")


def install(step: Step) -> None:
    """What the package needs, and what builds it."""
    needed, extras, builders = project()
    pip(step, *needed, *extras["render"], *builders, "editables")


def build_page(step: Step) -> None:
    """Install Node in a separate folder, then build the page. Everything else works without it, so this never fails."""
    maker = runpy.run_path(str(ROOT / "studio" / "make_page.py"))
    if maker["is_made"](ROOT / "studio", STATIC):
        return
    try:
        step.phase = "fetching Node"
        pip(step, "--upgrade", "--target", NODE_FOLDER, maker["NODE"])
        step.phase = "bundling"
        step.log(PYTHON, "studio/make_page.py", env={"PYTHONPATH": str(NODE_FOLDER)})
    except StepError:
        STATIC.mkdir(parents=True, exist_ok=True)
        NOT_MADE.write_text(f"Node could not be installed; see {VENV.name}/page.log\n")


def base() -> None:
    """Pliant and its experiments in place, with what they need to run."""
    began = time.monotonic()
    make_venv()
    note("venv", time.monotonic() - began)
    together(Step("install", install), Step("page", build_page))
    words = ("--no-deps", "--no-build-isolation", "-e", ".", "-e", "benchmarks")
    together(Step("link", lambda step: pip(step, *words, env=HOOKLESS)))
    say_page()


def say_page() -> None:
    """Print a note if the page could not be built."""
    if NOT_MADE.is_file():
        why = NOT_MADE.read_text().splitlines()[0].rstrip(".")
        say(
            f"The Studio's page could not be built ({why}). Everything else works. "
            "To try again with access to an npm registry: python3 tools/environment.py page"
        )


# The page is built already, or could not be: the build of the package does not try again.
HOOKLESS = {"HATCH_BUILD_NO_HOOKS": "true"}


def install_tools(step: Step) -> None:
    """The developers' tools, and the libraries that some tests compare with, as far as this Python can have them."""
    extras = project()[1]
    try:
        pip(step, *extras["dev"], *extras["peers"])
        return
    except StepError:
        pip(step, *extras["dev"])
    for peer in extras["peers"]:
        try:
            pip(step, "--only-binary", ":all:", peer)
        except StepError:
            step.missing.append(re.split(r"[^\w-]", peer)[0])


def dev() -> None:
    """The developers' tools."""
    step = Step("tools", install_tools)
    together(step)
    if step.missing:
        say(f"Could not be installed: {', '.join(step.missing)}. The tests that compare with them are skipped.")


# ---- messages of a target ------------------------------------------------------------------------------------------


def announce(goals: list[str]) -> None:
    """Print what a target will do and what is already done."""
    for goal in goals:
        if goal not in GOALS:
            continue
        total = f" ({IN_ALL[goal]} in a fresh clone)" if goal in IN_ALL else ""
        print(f"make {goal}{total}:")
        for name, what in GOALS[goal]:
            ready = DONE_BEFORE.get(name)
            say(f"{name:8} {'already done' if ready and ready.exists() else what}")
        sys.stdout.flush()
        VENV.mkdir(exist_ok=True)
        TIMES.write_text(f"{BEGAN}\t{time.time():.1f}\n")


def step(name: str, words: list[str]) -> int:
    """Run a command with its output visible, and note how long it took."""
    began = time.monotonic()
    code = subprocess.call(words)
    note(name, time.monotonic() - began)
    return code


def summary(goal: str) -> None:
    """One line with the time of every step."""
    times: dict[str, float] = {}
    for line in TIMES.read_text().splitlines():
        name, seconds = line.split("\t")
        name = "install" if name in ("venv", "link") else name
        times[name] = times.get(name, 0.0) + float(seconds)
    total = time.time() - times.pop(BEGAN)
    beside = " in parallel"
    split = [f"{name} {took:.0f} s{beside if name == 'page' else ''}" for name, took in times.items()]
    print(f"make {goal}: done in {total:.0f} s ({', '.join(split)}).", flush=True)


def main(verb: str, *words: str) -> int:
    if verb == "announce":
        announce(list(words))
    elif verb == "base":
        base()
    elif verb == "dev":
        dev()
    elif verb == "page":
        together(Step("page", build_page))
        say_page()
    elif verb == "step":
        return step(words[0], list(words[1:]))
    elif verb == "summary":
        summary(words[0])
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
