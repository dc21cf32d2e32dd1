"""Experiments come from installed packages; where there are none, one sentence says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pliant.analysis import experiments as module
from pliant.analysis.experiments import Benchmark, Experiment, benchmarks, experiments, find_benchmark, find_experiment
from pliant.compiling import ahead
from pliant.compiling.entry_points import Job
from pliant.errors import RejectedError, UnknownNameError
from pliant.kernel import on_compile
from pliant.studio.work.archive import experiments_in_words
from pliant_experiments.scenes.contact_trial import QUICK, plane, run_contact, task
from pliant_experiments.scenes.two_link_lab import circle, lab_task, run_along

LIST = """
from pliant.analysis.experiments import Benchmark, Experiment
ALL = (
    Experiment("{name}", "An experiment of another package.", "{package}.experiment"),
    Benchmark("nothing", "How long nothing takes.", "{package}.experiment:measure"),
)
"""
EXPERIMENT = """
from pliant.analysis.experiment_options import Option
from pliant.analysis.targets import Outcome, at_most
OPTIONS = (Option("size", "A size.", ("small", "large")),)
def run(seed, progress, size="small"):
    return Outcome("{name}", seed, 0.0, [at_most("seed", seed, "", 5.0)], [size])
def measure(seconds, progress):
    return Outcome("nothing", 0, seconds, [])
"""


Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a package with experiments where Python finds it, with the metadata of an installed one."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(package: str, name: str = "made-up", text: str = LIST) -> None:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "listed.py").write_text(text.format(name=name, package=package))
        (tmp_path / package / "experiment.py").write_text(EXPERIMENT.format(name=name))
        described = tmp_path / f"{package}-1.0.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (described / "entry_points.txt").write_text(f"[{module.GROUP}]\nsome = {package}.listed:ALL\n")
        module._installed.cache_clear()

    before = set(sys.modules)
    yield install
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").is_relative_to(tmp_path):
            del sys.modules[name]
    module._installed.cache_clear()


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "entry_points", lambda group: ())
    module._installed.cache_clear()
    yield
    monkeypatch.undo()
    module._installed.cache_clear()


def test_a_package_adds_experiments_and_benchmarks_to_those_of_pliant(install: Install) -> None:
    install("others_experiments")
    assert {"made-up", "press"} <= experiments().keys()
    assert {"nothing", "tick"} <= benchmarks().keys()
    found = find_experiment("made-up")
    assert [option.name for option in found.options] == ["size"]
    assert found.run(3, lambda share: None, size="large").notes == ["large"]
    assert find_benchmark("nothing").measure(2.0, lambda share: None).seconds == 2.0


def test_the_command_line_runs_an_experiment_of_another_package(install: Install, tmp_path: Path) -> None:
    install("others_experiments", text=LIST.replace('experiment"),', 'experiment", kernels=("kinematics",)),'))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from pliant.cli.main import main; main()"
    words = [sys.executable, "-c", code, "experiment", "made-up", "--size", "large", "--seed", "7", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr  # it missed its target
    assert json.loads(done.stdout)["notes"] == ["large"]


def test_without_any_the_sentence_says_what_to_install(nothing_installed: None) -> None:
    for ask in (experiments, benchmarks, lambda: find_experiment("press"), lambda: find_benchmark("tick")):
        with pytest.raises(RejectedError, match=r"separate package: pip install 'pliant\[experiments\]'\.$") as caught:
            ask()
        assert caught.value.exit_code == 2


def test_the_studio_shows_an_empty_list_with_that_sentence(nothing_installed: None) -> None:
    assert experiments_in_words() == ([], module.NOT_INSTALLED)


def test_with_experiments_the_studio_has_nothing_to_explain() -> None:
    listed, why_none = experiments_in_words()
    assert why_none == ""
    assert {"name": "press", "summary": find_experiment("press").summary} in listed


def test_two_experiments_of_one_name_are_rejected_with_both_places(install: Install) -> None:
    install("others_experiments", name="press")
    with pytest.raises(RejectedError, match="Two installed experiments are called 'press'") as caught:
        experiments()
    assert "others_experiments.experiment" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_module", "The experiments of broken_package .* cannot be loaded: ModuleNotFoundError"),
        ("ALL = ('press',)", "must list Experiment and Benchmark objects only, not 'press'"),
        ("ALL = 3", "cannot be loaded: TypeError"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(install: Install, text: str, said: str) -> None:
    install("broken_package", text=text)
    with pytest.raises(RejectedError, match=said):
        experiments()
    assert "broken_package" in experiments_in_words()[1]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown benchmark 'tack'\. Did you mean 'tick'"):
        find_benchmark("tack")


def test_every_listed_function_exists() -> None:
    for experiment in experiments().values():
        assert callable(experiment.run), experiment
    for benchmark in benchmarks().values():
        assert callable(benchmark.measure), benchmark
    assert Experiment("a", "b", "c").kernels == Benchmark("a", "b", "c").kernels


@pytest.mark.slow
def test_kernels_that_an_experiment_declares_are_not_compiled_in_the_middle_of_it() -> None:
    jobs = {need for item in experiments().values() for need in item.kernels if isinstance(need, Job)}
    assert {job.name for job in jobs} == {"lab runs"}
    ahead.ensure("batch", "law contact", "law impedance", *jobs)
    compiled: list[str] = []
    with on_compile(compiled.append):
        run_contact(task((plane(2e4),), QUICK, 0, 0.4))
        run_along(lab_task(0.2), circle(0.05, 0.5))
    assert [name for name in compiled if name.startswith("pliant_experiments.")] == []
