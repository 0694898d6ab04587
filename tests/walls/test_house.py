"""House rules that a machine can check: size, docstrings, nothing of one machine, nothing left undone."""

import ast
import re
import subprocess
import sys

import pytest

from sim.congestion.registry import CONTROLLERS
from sim.scenario import CONGESTION_CONTROLS
from tests.walls.source import FOLDERS, ROOT, at, listed, name_of, python_files, tree

MOST_LINES = 300
PRINTING = ("sim.command", "sim.__main__")
TEXT = ("*.py", "*.toml", "*.md", "*.txt", "*.csv", "*.json", ".ci/*", ".gitignore")
CONTROLLER_FUNCTIONS = ("start", "catch_up", "on_ack")
CONTROLLER_MODULES = {module.__name__ for module in CONTROLLERS.values()}
HERE = "tests/walls/test_house.py"

FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.:/-])/(?:work|farm|root|home|Users|mnt|tmp)/|[A-Z]:\\\\"),
    "a folder outside the project": re.compile(r"\.\./shared|\bshared/(?:DESIGN|STYLE|KERNEL|CASES|FORMATS|WORKLOAD|WORMHOLE|reference)"),
}  # fmt: skip
UNDONE = re.compile(r"#.*\b(?:TODO|FIXME|XXX|HACK)\b|NotImplementedError|breakpoint\(\)|pdb\.set_trace")


def lines_of_project(*patterns):
    """(file, line number, text) of every line that is, or is about to be, under version control."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    names = (
        tracked.stdout.split("\n")
        if tracked.returncode == 0
        else [str(path.relative_to(ROOT)) for path in python_files()]
    )
    for name in filter(None, names):
        if name == HERE or not (ROOT / name).exists():
            continue
        for number, text in enumerate((ROOT / name).read_text("utf-8", errors="replace").splitlines(), 1):
            yield name, number, text


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_project_is_self_contained(what):
    wrong = [
        f"{name}:{number}: {text.strip()[:80]}"
        for name, number, text in lines_of_project(*TEXT)
        if FORBIDDEN[what].search(text)
    ]
    assert not wrong, listed(wrong)


def test_nothing_is_left_undone():
    wrong = [
        f"{name}:{number}: {text.strip()[:80]}"
        for name, number, text in lines_of_project("*.py")
        if UNDONE.search(text)
    ]
    assert not wrong, listed(wrong)


def test_a_file_holds_one_idea():
    long = {
        name_of(path): count
        for path in python_files()
        if (count := len(path.read_text("utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}, f"past {MOST_LINES} lines there are two ideas in a file"


def test_every_module_says_what_it_is():
    silent = [
        at(path, 1, "no module docstring")
        for path in python_files()
        if tree(path).body and not ast.get_docstring(tree(path))
    ]
    assert not silent, listed(silent)


def public_functions(path):
    """The functions and classes that other modules may use; what controllers have in common is described in dispatch."""
    common = CONTROLLER_FUNCTIONS if name_of(path) in CONTROLLER_MODULES else ()
    for node in tree(path).body:
        if (
            isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and not node.name.startswith("_")
            and node.name not in common
        ):
            yield node


def test_every_public_function_of_sim_has_a_docstring():
    silent = [
        at(path, node.lineno, node.name)
        for path in python_files("sim")
        for node in public_functions(path)
        if not ast.get_docstring(node)
    ]
    assert not silent, listed(silent)


def test_nothing_prints_but_the_command_line():
    wrong = [
        at(path, node.lineno, "print")
        for path in python_files("sim", "views")
        if not name_of(path).startswith(PRINTING)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "pprint")
    ]
    assert not wrong, listed(wrong)


def test_the_linter_is_content():
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise", *FOLDERS, "app.py"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_controllers_are_numbered_and_named_once():
    assert len({module.NUMBER for module in CONTROLLERS.values()}) == len(CONTROLLERS)
    assert set(CONTROLLERS) == set(CONGESTION_CONTROLS)
    assert len(CONGESTION_CONTROLS) == len(CONTROLLERS)
    for name, module in CONTROLLERS.items():
        assert module.__name__ == f"sim.congestion.{name}"


def test_controllers_keep_their_names_apart():
    columns = [column[0] for module in CONTROLLERS.values() for column in module.COLUMNS]
    assert len(set(columns)) == len(columns)
    for name, module in CONTROLLERS.items():
        assert all(column[0].startswith(f"{name}_") for column in module.COLUMNS)
        assert all(parameter.source and parameter.unit for parameter in module.PARAMETERS)
