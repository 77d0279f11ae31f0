"""Everything the documentation shows is run: Python sessions, shell sessions, and the page of the command."""

import doctest
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from epivote.cli import app

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUN = [page for page in PAGES if page.parent != TUTORIAL]  # the tutorial is run as a notebook
SESSIONS = [page for page in RUN if "```pycon" in page.read_text()]
LONG = {"confidence.md", "explain.md", "faq.md", "from-crowd-kit.md", "from-label-studio.md", "gold.md", "groups.md"}
LONG |= {"index.md", "people-and-models.md", "plan.md", "size.md"}
"""Pages whose sessions take more than a second each, and run in the slow tests."""


def in_a_while(page):
    """A page to run, in the slow tests if it takes long."""
    return pytest.param(page, id=str(page.relative_to(ROOT)), marks=[pytest.mark.slow] if page.name in LONG else [])


@pytest.mark.parametrize("page", [in_a_while(page) for page in SESSIONS])
def test_python_sessions_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```pycon\n(.*?)```", page.read_text(), flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test).failed == 0


def by_a_shell(command):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, shell=True, capture_output=True, text=True, env=environment, timeout=120).stdout


def in_this_process(command):
    """The same without a process to start; what only a shell understands still goes to a shell."""
    _, *arguments = words = shlex.split(command, comments=True)
    if any(each in SHELLS_OWN for word in words for each in word):
        return by_a_shell(command)
    return CliRunner().invoke(app, arguments).stdout


SHELLS_OWN = set("|<>&;$`*")
SHELL = [page for page in RUN if "$ epivote" in page.read_text()]


@pytest.mark.parametrize("page", [in_a_while(page) for page in SHELL])
def test_shell_sessions_run(page, tmp_path, monkeypatch):
    """Every `$ epivote` line gives the output that follows it; a shell reads the first one as it stands.

    A block with a title is a file that the session reads.
    """
    run = by_a_shell
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(
        r'^```\w+ title="([^"]+)"\n(.*?)^```', page.read_text(), flags=re.DOTALL | re.MULTILINE
    ):
        (tmp_path / name).write_text(content)
    (tmp_path / "tickets.json").symlink_to(TUTORIAL / "tickets.json")
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), flags=re.DOTALL)
    session = "\n".join(block for block in blocks if "$ epivote" in block)
    assert session, f"{page.name} shows what the command prints"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, shown in re.findall(r"^\$ (epivote .*)\n((?:(?!\$ ).*\n)*)", session, flags=re.MULTILINE):
        printed = [line.strip() for line in run(command).splitlines() if line.strip()]
        assert printed, f"{command} prints nothing"
        for expected in (line.strip() for line in shown.splitlines()):
            assert expected in ("", "...") or expected in printed, f"{command} does not print {expected!r}"
        run = in_this_process


def test_the_page_of_the_command_is_what_the_command_says():
    spec = importlib.util.spec_from_file_location("make_cli_page", ROOT / "docs" / "make_cli_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stale = "docs/reference/cli.md is out of date; run: python docs/make_cli_page.py"
    assert module.PAGE.read_text().split() == module.page().split(), stale


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    """Also pictures and data, which building the documentation does not look for; it checks places within pages."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = {target.partition("#")[0] for target in re.findall(r"\]\(([^()\s]+)\)", text) if "://" not in target}
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


def test_every_page_is_in_the_navigation():
    named = re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE)
    assert sorted(named) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_docs_name_no_path_of_this_machine():
    for page in PAGES:
        assert str(ROOT) not in page.read_text()
