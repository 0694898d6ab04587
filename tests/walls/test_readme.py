"""What a newcomer copies from the README works as it stands: commands, requirements, files that it names."""

import re
import subprocess
import sys

import pytest

from sim.preset import list_presets
from tests.walls.source import ROOT, at, imports, listed, python_files

README = (ROOT / "README.md").read_text("utf-8")
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"
START = f"{INSTALL} && .venv/bin/streamlit run app.py"
TEST = f"{INSTALL} -r tests/requirements.txt && .venv/bin/pytest"
REQUIRED = {
    "requirements.txt": ("sim", "views"),
    "tests/requirements.txt": ("tests",),
}
OWN = {"sim", "views", "tests"}
RUN_AS_A_PROGRAM = {"pytest-timeout", "ruff"}
PACKAGE_OF = {"google": "protobuf", "yaml": "pyyaml"}  # where a module has another name than its package


def requirements(name):
    return dict(line.split("==") for line in (ROOT / name).read_text("utf-8").split())


def package(module):
    """The package that an imported module belongs to."""
    top = module.split(".")[0]
    return PACKAGE_OF.get(top, top)


def test_the_two_commands_are_those_that_are_tested():
    assert f"    {START}\n" in README and f"    {TEST}\n" in README
    assert (ROOT / ".ci" / "run").read_text("utf-8").rstrip().endswith(f"\n{TEST}")


@pytest.mark.parametrize("name", REQUIRED)
def test_requirements_are_what_is_imported_pinned(name):
    versions = requirements(name)
    assert all(re.fullmatch(r"\d+(\.\d+)+", version) for version in versions.values())
    found = {package(module) for path in python_files(*REQUIRED[name]) for _, module in imports(path)}
    found -= set(sys.stdlib_module_names) | OWN
    above = requirements("requirements.txt") if name.startswith("tests") else {}
    assert found - set(above) == set(versions) - RUN_AS_A_PROGRAM


def test_everything_imported_can_be_installed():
    known = (
        {**requirements("requirements.txt"), **requirements("tests/requirements.txt")}.keys()
        | OWN
        | set(sys.stdlib_module_names)
    )
    missing = [
        at(path, line, module)
        for path in python_files()
        for line, module in imports(path)
        if package(module) not in known
    ]
    assert not missing, listed(missing)


def test_files_that_the_readme_names_are_there():
    named = set(re.findall(r"\]\(([^):]+)\)", README)) | set(
        re.findall(r"`((?:sim|views|tests|presets)/[\w/*.]+)`", README)
    )
    missing = sorted(name for name in named if "mine" not in name and not list(ROOT.glob(name.rstrip("/"))))
    assert not missing, listed(missing)


def test_the_files_of_the_hpcc_example_are_there_and_run(tmp_path):
    place, line = re.search(r"    S4=(\S+)\n    python (-m sim hpcc .*)\n", README).groups()
    words = line.replace("$S4", place).replace(" fct.txt", f" {tmp_path / 'fct.txt'}").split()
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    flows = int((ROOT / place / "flow.txt").read_text("utf-8").split()[0])
    assert len((tmp_path / "fct.txt").read_text("utf-8").splitlines()) == flows


def test_presets_that_the_readme_runs_are_there():
    assert set(re.findall(r"sim run ([\w-]+)(?: |\n)", README)) <= set(list_presets())
