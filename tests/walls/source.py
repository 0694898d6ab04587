"""The project's Python files as the wall tests see them: which there are, and what each imports."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("sim", "views", "tests")


def python_files(*folders: str) -> list[Path]:
    """Every Python file under `folders` (default: all of the project's), app.py with views."""
    found = [path for folder in folders or FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return found + [ROOT / "app.py"] * ("views" in folders or not folders)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def name_of(path: Path) -> str:
    """Dotted name of a module: sim/packet/loop.py is sim.packet.loop."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> list[tuple[int, str]]:
    """(line, dotted name) of everything that a file imports, inside functions too; `from a import b` gives a.b."""
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
                base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found


def at(path: Path, line: int, what: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {what}"


def listed(findings: list[str]) -> str:
    return "\n".join([f"{len(findings)} found", *findings])
