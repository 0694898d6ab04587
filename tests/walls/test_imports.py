"""Rooms import only what stands above them: the floor plan, checked on every import statement."""

import sys

import pytest

from tests.walls.source import at, imports, listed, name_of, python_files

FLOORS = (
    ("units", "errors", "jit"),
    ("catalogue", "rows"),
    ("scenario",),
    ("preset", "topology", "workload", "congestion", "critical_path"),
    ("packet",),
    ("player", "transport", "hop_count"),
    ("case",),
    ("wormhole",),
    ("faults", "estimate", "ideal", "books", "published"),
    ("result", "alone", "fault_default"),
    ("simulation", "accuracy"),
    ("dag_play",),
    ("flow_level", "wormhole_simulation"),
    ("paper",),
    ("convergence",),
    ("modes",),
    ("warm_up",),
    ("job",),
    ("formats",),
    ("command",),
    ("__main__",),
)
SAME_FLOOR = {("critical_path", "workload")}  # the path through a graph needs the graph
FAMILIES = ("jit", "scenario", "result", "flow_level", "published", "convergence")  # sim/result_tables.py belongs to the room of sim/result.py
LIBRARIES = {
    "numba": {"jit", "rows"},
    "pandas": {"result", "formats", "command"},
    "pyarrow": {"result"},
    "pydantic": {"scenario", "preset"},
    "networkx": {"wormhole", "result"},
    "tqdm": {"command", "__main__"},
    "google": {"formats"},  # protobuf
    "yaml": {"formats"},
}
ANYWHERE = {"numpy"}
FIGURE_LIBRARIES = {"plotly", "numpy", "pandas"}
PURE_PARTS = ("views.figures", "views.parts.congestion", "views.parts.job_names", "views.parts.palette", "views.parts.words")


def room(module):
    """The room of sim that a dotted name belongs to."""
    part = module.split(".")[1] if "." in module else ""
    return next((family for family in FAMILIES if part.startswith(family + "_")), part)


def floor(name):
    return next((level for level, rooms in enumerate(FLOORS) if name in rooms), None)


def sim_imports():
    """(path, line, room, room or library imported) of every import in sim that is not the standard library."""
    for path in python_files("sim"):
        for line, module in imports(path):
            top = module.split(".")[0]
            if top not in sys.stdlib_module_names:
                yield path, line, room(name_of(path)), room(module) if top == "sim" else top, top == "sim"


def test_every_room_has_its_floor():
    unknown = {room(name_of(path)) for path in python_files("sim")} - {"", *sum(FLOORS, ())}
    assert not unknown, f"{unknown} is not in FLOORS: say what it may import"


def test_rooms_import_only_from_floors_above():
    wrong = [
        at(path, line, f"sim.{mine} imports sim.{other}")
        for path, line, mine, other, own in sim_imports()
        if own and mine and other != mine and (mine, other) not in SAME_FLOOR and floor(other) >= floor(mine)
    ]
    assert not wrong, listed(wrong)


@pytest.mark.parametrize(
    ("room_name", "allowed"),
    [
        ("scenario", {"units", "errors", "catalogue"}),
        ("congestion", {"errors", "jit"}),
        ("packet", {"errors", "jit", "rows", "congestion"}),
        ("player", {"errors", "jit", "rows", "packet"}),
        ("wormhole", {"errors", "jit", "rows", "congestion", "packet", "player"}),
        ("topology", {"units", "errors", "jit", "scenario"}),
        ("workload", {"units", "errors", "jit", "catalogue", "scenario"}),
    ],
)
def test_rooms_with_thick_walls(room_name, allowed):
    wrong = [
        at(path, line, f"imports sim.{other}")
        for path, line, mine, other, own in sim_imports()
        if own and mine == room_name and other not in allowed | {room_name}
    ]
    assert not wrong, listed(wrong)


def test_sim_knows_no_user_interface_and_keeps_libraries_to_their_rooms():
    wrong = [
        at(path, line, f"imports {library}")
        for path, line, mine, library, own in sim_imports()
        if not own and library not in ANYWHERE and mine not in LIBRARIES.get(library, ())
    ]
    assert not wrong, listed(wrong)


def test_figures_are_functions_of_a_result_without_streamlit():
    wrong = [
        at(path, line, f"imports {module}")
        for path in python_files("views")
        if name_of(path).startswith("views.figures")
        for line, module in imports(path)
        if (top := module.split(".")[0]) not in sys.stdlib_module_names | FIGURE_LIBRARIES | {"sim", "views"}
        or (top == "views" and not module.startswith(PURE_PARTS))
    ]
    assert not wrong, listed(wrong)


def test_the_kernel_is_reached_through_simulation_only():
    inside = {"packet", "player", "congestion", "jit", "case", "faults"}
    wrong = [
        at(path, line, f"imports {module}")
        for path in python_files("views")
        for line, module in imports(path)
        if module.split(".")[0] == "sim" and room(module) in inside
    ]
    assert not wrong, listed(wrong)


def test_nothing_imports_tests():
    wrong = [
        at(path, line, f"imports {module}")
        for path in python_files("sim", "views")
        for line, module in imports(path)
        if module.split(".")[0] in ("tests", "pytest", "hypothesis")
    ]
    assert not wrong, listed(wrong)
