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
MODULES = sorted(SOURCE.rglob("*.py"))

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
MESSAGES_ONLY = {  # in messages and docstrings; pages have room for other turns of phrase
    r"(?<!without )\bticks? speaks? against\b": "an approval counts against",
    r"\bcannot be told\b(?! apart)": "it is unclear ..., or cannot be distinguished from",
    r"\bmeans nothing (?:in|here)\b|\bstands for nothing\b": "unknown",
    r"\bof no known (?:kind|export)\b": "of an unknown format",
    r"\bpartial_fit (?:knows no|takes)\b": "does not support",
    r"\blists within lists\b": "nested too deeply",
    r"\bto tell the \w+ by\b": "that identifies",
    r"\bis there twice\b|\bnames something twice\b": "appears twice",
    r"\bgoes over several lines\b": "spans several lines",
    r"; look at (?:its )?quotes\b": "check",
    r"\bonly teach\b": "are used for fitting only",
    r"\bhow sure to be\b": "confidence",
    r"\bsay (?:so|it|that|which(?: one counts)?) with\b|\bsay which one counts\b": "choose, name",
    r"\bis started again\b": "is being restarted",
    r"\bstands among\b": "is mixed with",
    r"\badmit no set\b": "allow no set",
    r"\bis of a newer\b|\bholds nothing of\b": "was written by a newer ..., has no ...",
    r"\bas one with nothing ticked\b|\bcounts as no ballot\b": "as an empty ballot, as a missing ballot",
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
        for each in found(text, BANNED | MESSAGES_ONLY | (COMMAND_ONLY if package == "cli" else {}))
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
