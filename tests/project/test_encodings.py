"""Text is read and written as UTF-8 on every machine, whatever its locale: each call says so."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "epivote"
TEXT_CALLS = {"read_text", "write_text"}


def opens_text_by_locale(call):
    """Whether a call reads or writes text without naming its encoding."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if any(each.arg == "encoding" for each in call.keywords):
        return False
    if name in TEXT_CALLS:
        return True
    if name != "open":
        return False
    of_gzip = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "gzip"
    modes = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    modes += [each.value.value for each in call.keywords if each.arg == "mode"]
    return not any("b" in mode for mode in modes) and not (of_gzip and not modes)


@pytest.mark.parametrize(
    ("code", "by_locale"),
    [
        ("path.read_text()", True),
        ("path.read_text(encoding='utf-8')", False),
        ("path.write_text(text)", True),
        ("path.open('a')", True),
        ("path.open()", True),
        ("path.open('a', encoding='utf-8')", False),
        ("path.open('rb')", False),
        ("gzip.open(path)", False),
        ("gzip.open(path, 'rt')", True),
    ],
)
def test_calls_that_depend_on_the_locale_are_found(code, by_locale):
    assert opens_text_by_locale(ast.parse(code, mode="eval").body) == by_locale


def test_every_file_of_text_is_opened_as_utf_8():
    found = [
        f"{path.relative_to(SOURCE)}, line {node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_text_by_locale(node)
    ]
    assert not found
