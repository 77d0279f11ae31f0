"""Every defect that could be planted in the C++ loops, found by tokens and by how their text is laid out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from mutants.defects import Defect, keyed

OPERATORS = {  # with a space on either side, which templates, pointers and signs do not have
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">": (">=", "<"),
    ">=": (">", "<="),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "?": ("|| true ?", "&& false ?"),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("/",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
    "<<": (">>",),
    ">>": ("<<",),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("/=", "="),
    "/=": ("*=", "="),
    "|=": ("&=", "="),
    "&=": ("|=", "="),
}
WORDS = {"true": "false", "false": "true", "break": "continue", "continue": "break"}
ASIDE = re.compile(  # comments, characters, texts, and what the preprocessor reads
    r"//.*|'(?:\\.|[^'\\])'|\"[^\"\n]*\"|^#(?:.*\\\n)*.*", re.MULTILINE
)
TOP = re.compile(r"^(?:constexpr|struct (\w+) \{|(?:\w[^\n(]* [*&]?)?(\w+|operator\S+)\()", re.MULTILINE)
STATEMENT = re.compile(  # on a line of its own, not a declaration: those have a space before the name
    r"^ +((?!return|if|for|while)[\w.>*()-]+(?:\[.*\])?(?: [-+*/|&]?= .*|\(.*\)|\+\+|--);)$", re.MULTILINE
)
ARGUMENTS = re.compile(r"(?<=\()[^()]*(?=\))")


def loop_defects(file: str, text: str) -> list[Defect]:
    """All defects of a file in reading order, as `defects_in` gives those of Python."""
    code = ASIDE.sub(lambda aside: re.sub(r"[^\n]", " ", aside[0]), text)
    tops = [(found.start(), found[1] or found[2] or "") for found in TOP.finditer(code)]
    found = []
    for kind, start, end, new in _places(code, text):
        function = next((name for place, name in reversed(tops) if place <= start), "")
        found.append(Defect(file, text.count("\n", 0, start) + 1, start, text[start:end], new, kind, function))
    return keyed(found, text, " //")


def _places(code: str, text: str) -> Iterator[tuple[str, int, int, str]]:
    """Kind, beginning and end of what is replaced, and what by; `code` is the text with blanks for what is aside."""
    for kind, pattern, replaced in PATTERNS:
        for found in re.finditer(pattern, code):
            yield from ((kind, *found.span(), new) for new in replaced(found[0]))
    for found in re.finditer(r"\b(?:if|while) \(", code):
        end = _closing(code, found.end())
        condition = text[found.end() : end]
        yield from (("condition", found.end(), end, new) for new in (f"!({condition})", "true", "false"))
    for found in STATEMENT.finditer(code):
        yield "statement dropped", *found.span(1), ""
    for found in ARGUMENTS.finditer(code):
        names = list(re.finditer(r"(?:(?<=^)|(?<=, ))[A-Za-z]\w*(?=$|,)", found[0]))
        for one, two in pairwise(names):
            if one.end() + len(", ") == two.start() and one[0] != two[0]:
                begin = found.start()
                yield "arguments swapped", begin + one.start(), begin + two.end(), f"{two[0]}, {one[0]}"


def _numbers(old: str) -> Iterable[str]:
    if old.startswith("0x"):
        return [hex(int(old, 16) + 1), hex(int(old, 16) - 1)]
    if old.isdecimal():
        return [str(int(old) + 1), *([str(int(old) - 1)] if int(old) else [])]
    return [repr(float(old) * 2), repr(float(old) / 2)] if float(old) else ["1.0"]


def _closing(code: str, start: int) -> int:
    """Where the parenthesis is closed that was opened before."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(code[start], 0)
        start += 1
    return start - 1


PATTERNS: tuple[tuple[str, str, Callable[[str], Iterable[str]]], ...] = (
    ("operator", r"(?<= )(?![-+]= [^();]*\))[-+*/%&|^<>=!?]{1,2}(?= )", lambda old: OPERATORS.get(old, ())),
    ("constant", r"(?<![\w.])(?:0x[0-9A-F]+|\d+(?:\.\d+)?(?:e-?\d+)?)\b", _numbers),
    ("word", r"\b(?:true|false|break|continue)\b", lambda old: [WORDS[old]]),
    ("sign dropped", r"(?<![-\w])-(?=\w)|!(?=[\w(])", lambda _: [""]),
)
"""What is looked for, and what each is replaced by; steps of loops are left alone: without them most never end."""
