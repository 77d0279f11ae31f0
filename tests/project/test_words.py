"""Phrasings that nobody should have to read twice stay out of what users see: messages, help, docstrings, pages."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "epivote"
MEASURED = ("mutants.md", "confidence-measured.md", "reproduction.md", "benchmarks.md")  # written by a command
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in MEASURED]
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if "web" not in path.relative_to(SOURCE).parts]

BANNED = {
    r"\bpassed over\b": "ignored",
    r"\bis there already\b": "already exists",
    r"\bworth a look\b": "flagged, and say what for",
    r"\bhas no use in\b": "does not apply to",
    r"(?<!there )\bis no (?:list|name|number|table|column|date|address|distribution|packed|size|format)\b": "is not a ...",
    r"\bsays otherwise\b": "(override with --option)",
    r"\bhalf of them at most\b": "(median ...)",
    r"\bwant of memory\b": "out of memory?",
    r"\bonly compared with\b": "scored against gold (not used for fitting)",
    r"\b100\.0 ?%": "> 99.9 %",
    r"\bbest reached so far\b": "the best sets so far",
    r"\bpromises? kept\b|\bkept (?:its|their) promises?\b": "stated confidence, calibration",
}
COMMAND_ONLY = {  # words that have another one on every screen of the command; voters' own names for things are quoted
    r"\bright answers?\b": "right alternatives",
    r"\banswers? to tick\b": "alternatives",
    r"\bparticipants? (?:cast|voted)\b": "voters",
    r"\bitems? to review\b": "doubtful instances",
    r"\blog-likelihood\b": "in --json only",
}


def texts(path):
    """Every string of a module with its line; the parts of an f-string one by one, with a dot for what is filled in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "." for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def found(text, banned):
    plain = " ".join(text.split())
    return [
        f"{match.group()!r} (write: {better})"
        for banned_, better in banned.items()
        for match in re.finditer(banned_, plain)
    ]


@pytest.mark.parametrize("package", sorted({path.relative_to(SOURCE).parts[0] for path in MODULES}))
def test_messages_and_docstrings_use_plain_words(package):
    wrong = [
        f"{path.relative_to(ROOT)}, line {line}: {each}"
        for path in MODULES
        if path.relative_to(SOURCE).parts[0] == package
        for line, text in texts(path)
        for each in found(text, BANNED | (COMMAND_ONLY if package == "cli" else {}))
    ]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_use_plain_words(page):
    assert found(page.read_text(encoding="utf-8"), BANNED) == []


def test_templates_use_plain_words():
    for page in (SOURCE / "report").rglob("*.html"):
        assert found(page.read_text(encoding="utf-8"), BANNED) == [], page.name


def test_the_search_sees_what_is_banned():
    assert found("b.csv is\n there already; 9 is no number", BANNED) == [
        "'is there already' (write: already exists)",
        "'is no number' (write: is not a ...)",
    ]
    assert found("there is no file b.csv; it is no longer known", BANNED) == []
