"""Write docs/tutorial/tutorial.ipynb from docs/tutorial/index.md, and run it: the story is written once, in the page.

Run with `python docs/make_tutorial.py` after changing the page; it needs nbclient and ipykernel. Every command and
every Python statement with an output becomes a cell, and every line of output that the page shows must be printed by
that cell. Another folder, given as an argument, gets the notebook instead of docs/tutorial.
"""

import doctest
import json
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "tutorial"
PAGE, NOTEBOOK, DATA = FOLDER / "index.md", "tutorial.ipynb", ("tickets.json", "expert.csv")
PLAIN = 'import os\n\nos.environ["FORCE_COLOR"] = ""  # plain output of commands'
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```\n", flags=re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """Text, or code with the lines of output that the page shows."""

    kind: str
    source: str
    shown: tuple[str, ...] = ()


def cells(page: str) -> list[Cell]:
    """The page as cells, in its order, after one that asks for plain output, without colours and progress."""
    found = [Cell("code", PLAIN)]
    rest = 0
    for block in BLOCK.finditer(page):
        found += text_cells(page[rest : block.start()])
        found += command_cells(block[2]) if block[1] == "console" else python_cells(block[2])
        rest = block.end()
    return found + text_cells(page[rest:])


def text_cells(text: str) -> list[Cell]:
    """What stands between blocks of code."""
    return [Cell("markdown", text.strip())] if text.strip() else []


def command_cells(block: str) -> list[Cell]:
    """A cell for every command."""
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE)
    return [Cell("code", f"!{command}", lines(shown)) for command, shown in commands]


def python_cells(block: str) -> list[Cell]:
    """A cell up to every statement that shows something, since a notebook shows the last value of a cell only."""
    found, source = [], ""
    for example in doctest.DocTestParser().get_examples(block):
        source += example.source
        if example.want:
            found.append(Cell("code", source.strip(), lines(example.want)))
            source = ""
    return found + ([Cell("code", source.strip())] if source else [])


def lines(shown: str) -> tuple[str, ...]:
    """Lines of output, without those that stand for others."""
    return tuple(line.strip() for line in shown.splitlines() if line.strip() not in ("", "..."))


def run(story: list[Cell]) -> Any:
    """The notebook with the output of every cell, run in a folder that holds only the data."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    notebook.cells = [make[cell.kind](cell.source, id=f"cell-{at}") for at, cell in enumerate(story)]
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        for name in DATA:
            shutil.copy(FOLDER / name, folder)
        NotebookClient(notebook, resources={"metadata": {"path": folder}}, record_timing=False).execute()
    return notebook


def printed(cell: dict[str, Any]) -> str:
    """Everything that a cell printed or showed, as text."""
    return "".join(each.get("text") or each.get("data", {}).get("text/plain", "") for each in cell.get("outputs", []))


def main(folder: Path) -> None:
    """Write the notebook; refuse where the page shows what is not printed."""
    story = cells(PAGE.read_text(encoding="utf-8"))
    notebook = run(story)
    for cell, ran in zip(story, notebook.cells, strict=True):
        got = [line.strip() for line in printed(ran).splitlines()]
        for line in cell.shown:
            if line not in got:
                raise SystemExit(f"{PAGE.name}: {cell.source!r} does not print {line!r} but\n{printed(ran)}")
    (folder / NOTEBOOK).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
