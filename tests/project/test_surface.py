import doctest
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import epivote

WEB = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "itsdangerous", "psycopg", "epivote.web"}
ROOT = Path(__file__).parent.parent.parent


def test_all_is_exact():
    assert len(set(epivote.__all__)) == len(epivote.__all__)
    public = {name for name in vars(epivote) if not name.startswith("_")}
    packages = {module.name for module in pkgutil.iter_modules(epivote.__path__)}
    assert packages.isdisjoint(epivote.__all__), "no function hides a module"
    assert dir(epivote) == sorted(epivote.__all__)
    extra = {"TYPE_CHECKING", "Any"}
    lazy = {name for name in epivote.__all__ if name not in vars(epivote)}
    assert public - packages - extra == set(epivote.__all__) - lazy - {"__version__"}
    for name in epivote.__all__:
        assert getattr(epivote, name) is not None
    with pytest.raises(AttributeError, match="module 'epivote' has no attribute 'nothing'"):
        epivote.nothing  # noqa: B018


def test_version_is_the_projects():
    assert f'version = "{epivote.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {epivote.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {epivote.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def modules_after(code) -> list[str]:
    """What is loaded in a new process that has run some code and prints it."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=120)
    return json.loads(done.stdout)


def test_import_and_a_small_fit_load_nothing_heavy():
    code = (
        "import sys, json, epivote\n"
        "ballots = epivote.simulate(instances=15, voters=20, alternatives=5, bounds=(1, 2)).ballots\n"
        "epivote.AMLE((1, 2)).fit(ballots).confidence_\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    modules = modules_after(code)
    heavy = {"polars", "narwhals", "scipy", "pandas", "typer", "rich", "sklearn", "matplotlib", "jinja2"}
    assert (heavy | WEB) & set(modules) == set()


def test_files_are_read_without_narwhals(tmp_path):
    (tmp_path / "b.csv").write_text("voter,instance,alternatives\nv,q,a|b\n")
    code = f"import sys, json, epivote\nepivote.read_export({str(tmp_path / 'b.csv')!r})\nprint(json.dumps(sorted(sys.modules)))"
    assert "narwhals" not in modules_after(code)


def test_commands_that_serve_nothing_load_no_server():
    commands = [["--help"], ["aggregate", "--help"], ["collect", "--help"]]
    code = (
        "import sys, json\n"
        "from typer.testing import CliRunner\n"
        "from epivote.cli import app\n"
        f"for command in {commands!r}:\n"
        "    assert CliRunner().invoke(app, command).exit_code == 0\n"
        f"    assert not {WEB!r} & set(sys.modules), command\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    modules = modules_after(code)
    assert WEB & set(modules) == set()


@pytest.mark.parametrize("name", [m.name for m in pkgutil.walk_packages(epivote.__path__, "epivote.")])
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
