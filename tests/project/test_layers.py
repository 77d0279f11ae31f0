"""Imports only point down:
cli > web > report > planning | summary > formats | estimate | evaluate | simulation > engines > kernels > model > data > errors.

`web` stands on the public names alone, as any other program would: `from epivote import ...` and its own modules.
"""

import ast
from pathlib import Path

import pytest

import epivote

SOURCE = Path(__file__).parent.parent.parent / "src" / "epivote"
LAYERS = {
    "errors": 0,
    "atomic": 0.5,
    "data": 1,
    "model": 2,
    "kernels": 2.3,
    "engines": 2.5,
    "formats": 3,
    "estimate": 3,
    "evaluate": 3,
    "simulation": 3,
    "planning": 3.5,
    "summary": 3.5,
    "report": 4,
    "web": 4.5,
    "cli": 5,
    "__init__": 6,
    "__main__": 6,
}


def package_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= (
                {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "epivote" else {node.module}
            )
    return {name for name in found if name.split(".")[0] == "epivote"}


def upward(package: str, source: str) -> list[str]:
    """Imports that point up, or sideways to a sibling; a public name such as epivote.Ballots counts as the top."""
    if package == "web":
        public = {f"epivote.{name}" for name in epivote.__all__}
        return sorted(name for name in imports_of(source) - public if not name.startswith("epivote.web."))
    wrong = []
    for name in sorted(imports_of(source)):
        target = package_of(name)
        level = LAYERS.get(target, LAYERS["__init__"])
        if target != package and level >= LAYERS[package]:
            wrong.append(name)
    return wrong


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path):
    package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    assert upward(package, path.read_text()) == []


def test_the_walk_sees_what_points_up():
    assert upward("data", "from epivote.model.sizes import log_size_mass") == ["epivote.model.sizes"]
    assert upward("model", "from epivote.kernels.passes import CompiledPass") == ["epivote.kernels.passes"]
    assert upward("data", "def f():\n    import epivote.cli") == ["epivote.cli"]
    assert upward("estimate", "from epivote.formats.canonical import read_ballots") == ["epivote.formats.canonical"]
    assert upward("cli", "from epivote import Ballots") == ["epivote.Ballots"]
    assert upward("cli", "from epivote.estimate.amle import AMLE") == []
    assert upward("cli", "from epivote.web.app import collect_app") == []
    assert upward("report", "from epivote.web.app import collect_app") == ["epivote.web.app"]
    assert upward("summary", "from epivote.planning import plan") == ["epivote.planning"]


def test_the_web_stands_on_public_names():
    assert upward("web", "from epivote import EM\nfrom epivote.web.task import Task") == []
    assert upward("web", "from epivote.errors import InputError") == ["epivote.errors"]
    assert upward("web", "from epivote.estimate.em import EM") == ["epivote.estimate.em"]
    assert upward("web", "from epivote import _LATER") == ["epivote._LATER"]
    assert upward("web", "import epivote.data") == ["epivote.data"]


def test_no_two_classes_share_a_name():
    """A name that is looked for leads to one place; aliases of types count as well."""
    homes = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name[0].isupper() and not name.isupper():
                    homes.setdefault(name, []).append(path)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
