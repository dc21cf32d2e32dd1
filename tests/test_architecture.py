"""How the source hangs together: layers, purity, size, and nothing that belongs to one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from support.needs import needs

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "pliant"
FILES = sorted(SOURCE.rglob("*.py"))
EXPERIMENTS = ROOT / "benchmarks" / "src" / "pliant_experiments"
EXPERIMENT_FILES = sorted(EXPERIMENTS.rglob("*.py"))
ALL_FILES = [*FILES, *EXPERIMENT_FILES]
# Tests and the page: only their length is checked.
TEXTS = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "studio" / "src").glob("*.ts")]

# From top to bottom. A module may import what is in a lower row; neighbours in a row do not import each other.
ROWS = (
    ("cli",),
    ("studio",),
    ("analysis",),
    ("bridge",),
    ("mobile",),
    ("identify",),
    ("session",),
    ("loop",),
    ("stability",),
    ("testing",),
    ("task",),
    ("record",),
    ("robots",),
    ("world",),
    ("sensors",),
    ("ros2",),
    ("control",),
    ("model", "params"),
    ("compiling",),
    ("spatial", "solve"),
    ("kernel", "records"),
    ("errors", "lazy_names"),
)
# The same for the folders of pliant-experiments, which is above all of Pliant.
EXPERIMENT_ROWS = (
    ("faults",),
    ("robots",),
    ("motion", "lab", "contact", "simulator", "mobile", "bench"),
    ("rivals",),
    ("scenes",),
)
Rows = tuple[tuple[str, ...], ...]
FACADE = "pliant"
EXPERIMENT_FACADE = "pliant_experiments"

PURE = (
    "control",
    *("mobile.velocity", "mobile.following", "mobile.base.arc", "mobile.base.drive_model", "mobile.mission.stages"),
    *("mobile.whole_body.kinematic_body", "mobile.whole_body.program", "mobile.whole_body.pose_ik"),
    *("spatial", "solve", "records", "params.declare"),
)
IMPURE_MODULES = {
    *("os", "sys", "io", "pathlib", "shutil", "tempfile", "mmap", "socket", "subprocess", "multiprocessing"),
    *("threading", "asyncio", "time", "datetime", "random", "secrets", "uuid", "logging", "importlib"),
}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval"}

MOST_LINES = 400
MOST_MODULES = 15
MOST_ARGUMENTS = 8

# The records of a tick, under their short and their long names: kernels pass them on together, so they count as one.
OF_A_TICK = {*"hpsrgcow", "handle", "parameters", "state", "reading", "goal", "command", "observed", "work"}
# Functions with more arguments, and why.
MANY_ARGUMENTS = {
    "pliant.loop.periods.run_periods": "called from Python with what is fixed for a run, and four numbers",
    "pliant.control.laws.impedance.impedance_law.step": "the equation of the law, in the symbols of its derivation",
    "pliant.control.laws.own_law.own_law": "called by users, by keyword: everything that a law may bring",
    "pliant.model.arm.Arm.load": "called by users, by keyword",
}

# Addresses that may appear anywhere in the tree: the licence, and names (not places) of XML vocabularies.
KNOWN_HOSTS = {"www.apache.org", "www.w3.org", "doi.org", "arxiv.org", "github.com"}
# Documentation of what docs/compare.md compares with.
KNOWN_HOSTS |= {"www.universal-robots.com", "sdurobotics.gitlab.io", "control.ros.org", "docs.picknik.ai"}
KNOWN_HOSTS |= {"utiasdsl.github.io"}
# The form of the changelog.
KNOWN_HOSTS |= {"keepachangelog.com"}
ADDRESS = re.compile(r"https?://([\w.-]+)")
MACHINE_PATH = re.compile(rf"(?<![\w.~/>)}}-])/(?:{'|'.join(('work', 'root', 'tmp', 'home', 'Users', 'opt'))})\b")


# ---- the checks ----------------------------------------------------------------------------------------------------


parsed = lru_cache(maxsize=None)(ast.parse)
"""Several claims are about the same files."""


def module_name(path: Path, source: Path = SOURCE) -> str:
    """The name under which `path` is imported, below the package: ``laws.admittance``, or "" for the package."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, module: str, *, is_package: bool = False, facade: str = FACADE) -> Iterator[str]:
    """Full names of everything that is imported, wherever in the file; relative imports are resolved."""
    package = [facade, *module.split(".")] if is_package else [facade, *module.split(".")][:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def upward_imports(
    source: str, module: str, *, is_package: bool = False, facade: str = FACADE, rows: Rows = ROWS
) -> list[str]:
    """Imports of `module` that do not point downward, or point from Pliant to its experiments."""
    layer = module.split(".")[0]
    row_of = {layer: number for number, row in enumerate(rows) for layer in row}
    if layer not in row_of:
        return [f"{module} is in no layer: give {layer!r} a place in its rows"]
    found = []
    for name in imports(parsed(source), module, is_package=is_package, facade=facade):
        top, _, rest = name.partition(".")
        target = rest.split(".")[0]
        if top == EXPERIMENT_FACADE != facade:
            found.append(f"{module} imports {name}: Pliant finds experiments by entry point")
        elif top != facade or target == layer:
            continue
        elif target not in row_of:
            found.append(f"{module} imports {name}, the package's front door: import from the module itself")
        elif row_of[target] <= row_of[layer]:
            found.append(f"{module} imports {name}, which is not below {layer!r}")
    return found


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, as far as they do when they are imported."""
    left = dict(graph)
    while free := [name for name, needed in left.items() if not needed & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def needed_at_import(tree: ast.Module, facade: str) -> set[str]:
    """Modules of the package `facade` that the top of a module imports."""
    top = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    names = {name for name in imports(top, "", facade=facade) if name.startswith(f"{facade}.")}
    return names | {name.rpartition(".")[0] for name in names}


def impurities(source: str, module: str) -> list[str]:
    """What a pure module does that depends on more than its arguments."""
    tree = parsed(source)
    found = [name for name in imports(tree, module) if name.split(".")[0] in IMPURE_MODULES]
    found += [name for name in imports(tree, module) if name.startswith("numpy.random")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            found.append(f"{node.func.id}()")
        elif isinstance(node, ast.Attribute) and node.attr == "random" and isinstance(node.value, ast.Name):
            found.append(f"{node.value.id}.random")
    return [f"{module} uses {what}" for what in found]


def many_arguments(source: str, module: str) -> list[str]:
    """Functions that take more than 8 arguments. The options of a command line's `command` are its arguments."""
    found = []

    def look(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            inside = f"{name}.{child.name}" if isinstance(child, ast.FunctionDef | ast.ClassDef) else name
            if isinstance(child, ast.FunctionDef) and child.name != "command":
                a = child.args
                names = {each.arg for each in [*a.posonlyargs, *a.args, *a.kwonlyargs]} - {"self", "cls"}
                count = len(names - OF_A_TICK) + bool(names & OF_A_TICK)
                if count > MOST_ARGUMENTS and inside not in MANY_ARGUMENTS:
                    found.append(f"{inside} has {count} arguments: use a record or a dataclass")
            look(child, inside)

    look(parsed(source), module)
    return found


def strays(text: str) -> list[str]:
    """Addresses and paths in `text` that belong to one place or one machine."""
    hosts = [match[0] for match in ADDRESS.finditer(text) if match[1] not in KNOWN_HOSTS]
    return hosts + [match[0] for match in MACHINE_PATH.finditer(text)]


def tracked_texts() -> Iterator[tuple[Path, str]]:
    """Every text file that is in the repository, or would be with the next commit."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if b"\0" not in data:
                yield path.relative_to(ROOT), data.decode(errors="replace")


def is_pure(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in PURE)


# ---- the claims ----------------------------------------------------------------------------------------------------


def test_imports_point_downward() -> None:
    found = []
    for path in FILES:
        if module := module_name(path):
            found += upward_imports(path.read_text(), module, is_package=path.name == "__init__.py")
    assert not found, "\n".join(found)


def test_imports_of_the_experiments_point_downward() -> None:
    found = []
    for path in EXPERIMENT_FILES:
        if path.parent != EXPERIMENTS:  # the list of experiments imports none of them
            module, is_package = module_name(path, EXPERIMENTS), path.name == "__init__.py"
            rows = {"facade": EXPERIMENT_FACADE, "rows": EXPERIMENT_ROWS}
            found += upward_imports(path.read_text(), module, is_package=is_package, **rows)
    assert not found, "\n".join(found)


def test_no_modules_of_the_experiments_import_each_other_in_a_circle() -> None:
    graph = {
        f"{EXPERIMENT_FACADE}.{module_name(path, EXPERIMENTS)}": needed_at_import(
            parsed(path.read_text()), EXPERIMENT_FACADE
        )
        for path in EXPERIMENT_FILES
        if path.name != "__init__.py"
    }
    assert len(graph) > 50
    assert cycle(graph) == []


def test_every_module_has_a_name_of_its_own() -> None:
    modules = Counter(path.stem for path in ALL_FILES if path.name != "__init__.py")
    assert [name for name, times in modules.items() if times > 1] == []
    folders = {path.parent.name for path in ALL_FILES}
    own = {path.stem for path in EXPERIMENT_FILES if path.name != "__init__.py"}
    assert sorted(own & folders) == []


def test_no_folder_is_a_drawer() -> None:
    sizes = Counter(str(path.parent.relative_to(ROOT)) for path in ALL_FILES if path.name != "__init__.py")
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_the_documentation_draws_the_same_layers() -> None:
    blocks = (ROOT / "docs" / "architecture.md").read_text().partition("## Layers")[2].split("```")
    for block, rows in ((blocks[1], ROWS), (blocks[3], EXPERIMENT_ROWS)):
        drawn = [line for line in block.splitlines() if line.strip()]
        expected = ["   ".join(row) + "  " for row in rows]
        assert [name for name, line in zip(expected, drawn, strict=True) if not f"{line}  ".startswith(name)] == []


def test_pure_layers_do_no_io_and_read_no_clock() -> None:
    pure = [path for path in FILES if is_pure(module_name(path))]
    assert len(pure) > 5
    found = [line for path in pure for line in impurities(path.read_text(), module_name(path))]
    assert not found, "\n".join(found)


def test_no_file_is_too_long_to_read() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in [*ALL_FILES, *TEXTS]}
    assert not {name: n for name, n in lengths.items() if n > MOST_LINES}


def test_no_function_has_too_many_arguments() -> None:
    found = []
    for source, facade, paths in ((SOURCE, FACADE, FILES), (EXPERIMENTS, EXPERIMENT_FACADE, EXPERIMENT_FILES)):
        for path in paths:
            found += many_arguments(path.read_text(), f"{facade}.{module_name(path, source)}")
    assert not found, "\n".join(found)


def test_every_public_module_says_what_it_is() -> None:
    public = [path for path in ALL_FILES if not re.match(r"_(?!_init__)", path.name)]
    assert not [str(path.relative_to(ROOT)) for path in public if not ast.get_docstring(parsed(path.read_text()))]


def test_every_package_has_an_init_file() -> None:
    folders = {path.parent for path in ALL_FILES}
    assert not [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").exists()]


@needs("git")
def test_nothing_names_a_machine_or_an_unknown_address() -> None:
    found = [f"{path}: {stray}" for path, text in tracked_texts() for stray in strays(text)]
    assert not found, "\n".join(found)


# ---- the checks can fail -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("control.fake", "from pliant.loop.periods import run_periods"),
        ("control.fake", "from pliant import record"),
        ("control.fake", "import pliant.world.servo"),
        ("control.fake", "def f():\n    from ..robots import open_robot"),
        ("control.fake", "if TYPE_CHECKING:\n    from pliant.record import Recording"),
        ("robots.ur.fake", "from ...task.schema import Task"),
        ("analysis.fake", "from pliant.studio.wire import CHANNELS"),
        ("records", "from pliant.kernel import kernel"),
        ("kernel", "from pliant.spatial import pose_error"),
        ("errors", "from pliant import records"),
        ("cli.fake", "import pliant"),
        ("cli.fake", "from pliant import connect"),
        ("helpers.fake", "import math"),
        ("cli.fake", "def f():\n    from pliant_experiments.simulator.press import run"),
    ],
)
def test_an_upward_import_is_found(module: str, source: str) -> None:
    assert len(upward_imports(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("control.fake", "from pliant.spatial import pose_error"),
        ("control.fake", "from .laws.hold import step\nfrom . import laws"),
        ("spatial", "from pliant.kernel import kernel"),
        ("session.fake", "from ..record import Recording\nimport numpy.linalg"),
        ("cli.fake", "from pliant.analysis.experiments import experiments"),
    ],
)
def test_a_downward_import_is_allowed(module: str, source: str) -> None:
    assert upward_imports(source, module) == []


def test_a_circle_of_imports_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"e"}, "e": set()}) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "import os.path",
        "from pathlib import Path",
        "def f():\n    print(1)",
        "text = open('file').read()",
        "import numpy as np\nx = np.random.default_rng(0)",
        "from numpy.random import default_rng",
    ],
)
def test_an_impure_module_is_found(source: str) -> None:
    assert len(impurities(source, "control.fake")) == 1


def test_a_function_with_nine_arguments_is_found() -> None:
    nine = "def f(a, b, d, e, f, i, j, k, l): ..."
    assert many_arguments(f"class C:\n    {nine}", "m") == ["m.C.f has 9 arguments: use a record or a dataclass"]
    assert (
        many_arguments("def f(h, p, s, r, g, c, o, w, mode, dt): ...\ndef command(a, b, d, e, f, i, j, k, l): ...", "m")
        == []
    )


def test_a_pure_module_is_not_accused() -> None:
    assert (
        impurities("import math\nimport numpy as np\n\ndef opened(x):\n    return math.sqrt(x)", "control.fake") == []
    )


def test_strays_are_found() -> None:
    slash, colon = "/", ":"
    assert strays(f"see https{colon}//example.com{slash}x") == [f"https{colon}//example.com"]
    assert strays(f"cd {slash}work/here, '{slash}tmp/x'") == [f"{slash}work", f"{slash}tmp"]
    assert strays("N/work, a/tmp/b, ~/home, https://doi.org/10.1000/1") == []
