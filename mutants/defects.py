"""Every defect that could be planted in a file: a careless maintainer's slip, found by syntax and written as text."""

from __future__ import annotations

import ast
import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

COMPARISONS = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
ARITHMETIC = {
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.Mult: ("/",),
    ast.Div: ("*",),
    ast.FloorDiv: ("/", "*"),
    ast.Mod: ("//",),
    ast.Pow: ("*",),
    ast.BitAnd: ("|",),
    ast.BitOr: ("&",),
    ast.BitXor: ("|",),
    ast.LShift: (">>",),
    ast.RShift: ("<<",),
}
RENAMED = {  # functions and types that are easily taken for each other
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "mean": "max",
    "median": "mean",
    "sum": "max",
    "floor": "ceil",
    "ceil": "floor",
    "sorted": "list",
    "log1p": "log",
    "expm1": "exp",
    "zeros": "ones",
    "ones": "zeros",
    "startswith": "endswith",
    "endswith": "startswith",
    "lstrip": "rstrip",
    "rstrip": "lstrip",
    "union": "intersection",
    "intersection": "union",
    "append": "extend",
    "uint64": "uint32",
    "uint32": "uint16",
    "uint16": "uint8",
    "int64": "int32",
    "int32": "int16",
    "int16": "int8",
    "float64": "float32",
    "left": "right",
}
DROPPED_METHODS = {
    "strip",
    "lower",
    "casefold",
    "upper",
    "rstrip",
    "lstrip",
    "copy",
    "sort",
    "removesuffix",
    "removeprefix",
}
WORDS = {"left": "right", "right": "left", "first": "last", "last": "first", "stable": "quicksort", "lower": "upper"}


@dataclass(frozen=True)
class Defect:
    """`old` at this place of `file` becomes `new`; the rest of the file stays."""

    file: str
    line: int
    start: int  # offset in the text of the file
    old: str
    new: str
    kind: str
    function: str  # dotted name, empty at the top of the module
    key: str = ""

    def planted(self, text: str) -> str:
        """The text of the file with the defect in it."""
        assert text[self.start : self.start + len(self.old)] == self.old
        return text[: self.start] + self.new + text[self.start + len(self.old) :]


def defects_in(file: str, text: str) -> list[Defect]:
    """All defects of a file in reading order; their keys survive changes elsewhere in the file."""
    finder = _Finder(file, text)
    finder.visit(ast.parse(text))
    return keyed(finder.found, text, "  #")


def keyed(defects: Iterable[Defect], text: str, comment: str) -> list[Defect]:
    """Those of a file in reading order, with keys; `comment` is what a comment behind code begins with."""
    found: list[Defect] = []
    times: dict[str, int] = {}
    lines = text.splitlines()
    for defect in sorted(defects, key=lambda each: (each.start, each.kind, each.new)):
        code = lines[defect.line - 1].partition(comment)[0].strip()
        said = f"{defect.file}:{defect.function}:{code}:{defect.kind}:{defect.old}:{defect.new}"
        times[said] = times.get(said, 0) + 1
        key = hashlib.sha256(f"{said}:{times[said]}".encode()).hexdigest()[:10]
        found.append(Defect(**{**vars(defect), "key": key}))
    return found


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.found = file, text, list[Defect]()
        self._function: list[str] = []
        self._lines = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, self._lines))]

    # places -----------------------------------------------------------------------------------------------

    def _offset(self, line: int, column: int) -> int:
        """Python counts bytes in a line; texts are cut by characters."""
        text = self._lines[line - 1]
        return self._starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def _span(self, node: ast.AST) -> tuple[int, int]:
        where: object = node
        return (
            self._offset(where.lineno, where.col_offset),  # type: ignore[attr-defined]
            self._offset(where.end_lineno, where.end_col_offset),  # type: ignore[attr-defined]
        )

    def _source(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self.text[start:end]

    def _add(self, kind: str, node: ast.AST, new: str, span: tuple[int, int] | None = None) -> None:
        start, end = span or self._span(node)
        old = self.text[start:end]
        line = bisect_right(self._starts, start)
        if old != new:
            self.found.append(Defect(self.file, line, start, old, new, kind, ".".join(self._function)))

    def _between(self, left: ast.AST, right: ast.AST, old: str, new: str, kind: str) -> None:
        """Replace an operator that stands between two expressions."""
        begin, end = self._span(left)[1], self._span(right)[0]
        place = self.text.find(old, begin, end)
        if place >= 0:
            self._add(kind, left, new, (place, place + len(old)))

    # what is left alone -----------------------------------------------------------------------------------

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Types change nothing at run time."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Expressions in a message count where Python tells their place rightly."""
        for value in node.values:
            if isinstance(value, ast.FormattedValue) and self._stands(value.value):
                self.visit(value.value)

    def _stands(self, node: ast.expr) -> bool:
        try:
            return ast.dump(ast.parse(self._source(node), mode="eval").body) == ast.dump(node)
        except (SyntaxError, IndexError):
            return False

    def _named(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._function.append(node.name)
        if isinstance(node, ast.ClassDef):
            inner: Iterator[ast.AST] = iter(node.body)
        else:
            defaults = [each for each in node.args.kw_defaults if each is not None]
            inner = iter([*node.args.defaults, *defaults, *node.body])
        for child in inner:
            self.visit(child)
        self._function.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._named(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._named(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._named(node)

    def visit_If(self, node: ast.If) -> None:
        if self._source(node.test) in ("TYPE_CHECKING", '__name__ == "__main__"'):
            return
        self._condition(node.test)
        self.generic_visit(node)

    # expressions ------------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        places = [node.left, *node.comparators]
        for left, operator, right in zip(places, node.ops, node.comparators, strict=False):
            for new in COMPARISONS[type(operator)]:
                self._between(left, right, _written(operator), new, "comparison")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        old = _written(node.op)
        if not (isinstance(node.op, ast.Add | ast.Mod) and _is_text(node)):
            for new in ARITHMETIC.get(type(node.op), ()):
                self._between(node.left, node.right, old, new, "arithmetic")
        if isinstance(node.op, ast.Mult | ast.Add | ast.Sub | ast.Div):
            self._add("operand dropped", node, self._source(node.left))
            if isinstance(node.op, ast.Mult):
                self._add("operand dropped", node, self._source(node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        for new in ARITHMETIC.get(type(node.op), ()):
            self._between(node.target, node.value, f"{_written(node.op)}=", f"{new}=", "arithmetic")
        self._between(node.target, node.value, f"{_written(node.op)}=", "=", "assignment")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            self._between(left, right, f" {old} ", f" {new} ", "and/or")
        for value in node.values:
            others = [self._source(each) for each in node.values if each is not value]
            joined = f" {old} ".join(others)
            self._add("condition dropped", node, f"({joined})" if len(others) > 1 else joined)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._add("sign dropped", node, self._source(node.operand))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def _condition(self, test: ast.expr) -> None:
        self._add("condition negated", test, f"not ({self._source(test)})")
        self._add("condition fixed", test, "True")
        self._add("condition fixed", test, "False")

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._add("filter dropped", test, "True")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add("constant", node, str(not value))
        elif isinstance(value, int):
            self._add("constant", node, str(value + 1))
            if value > 0:
                self._add("constant", node, str(value - 1))
        elif isinstance(value, float):
            for new in (value * 2, value / 2) if value else (1.0,):
                self._add("constant", node, repr(new))
        elif isinstance(value, str) and value in WORDS:
            self._add("constant", node, repr(WORDS[value]))

    def _shorter(self, node: ast.List | ast.Tuple | ast.Set) -> None:
        plain = [isinstance(each, ast.Constant) for each in node.elts]
        if (
            len(node.elts) > 2
            and all(plain)
            and isinstance(node.ctx if not isinstance(node, ast.Set) else ast.Load(), ast.Load)
        ):
            for place, element in enumerate(node.elts):
                begin = self._span(element)[0]
                after = node.elts[place + 1] if place + 1 < len(node.elts) else None
                if after is not None:
                    self._add("element dropped", element, "", (begin, self._span(after)[0]))
        self.generic_visit(node)

    def visit_List(self, node: ast.List) -> None:
        self._shorter(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        self._shorter(node)

    def visit_Set(self, node: ast.Set) -> None:
        self._shorter(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in RENAMED:
            end = self._span(node)[1]
            self._add("name", node, RENAMED[node.attr], (end - len(node.attr), end))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in RENAMED:
            self._add("name", node, RENAMED[node.id])

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Constant) and node.slice.value == 0:
            self._add("end", node.slice, "-1")
        elif self._source(node.slice) == "-1":
            self._add("end", node.slice, "0")
        elif isinstance(node.slice, ast.Slice):
            self._add("slice dropped", node.slice, ":")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == "zip":  # strict=True is an assertion
            node.keywords = []
        if isinstance(node.func, ast.Attribute) and node.func.attr in DROPPED_METHODS and not node.args:
            self._add("call dropped", node, self._source(node.func.value))
        for keyword in node.keywords:
            if keyword.arg is None or not isinstance(node.func, ast.Name | ast.Attribute):
                continue
            self._drop_keyword(node, keyword)
        names = [each for each in node.args if isinstance(each, ast.Name | ast.Attribute)]
        for first, second in pairwise(names):
            between = self.text[self._span(first)[1] : self._span(second)[0]]
            span = self._span(first)[0], self._span(second)[1]
            self._add("arguments swapped", node, self._source(second) + between + self._source(first), span)
        self.generic_visit(node)

    def _drop_keyword(self, node: ast.Call, keyword: ast.keyword) -> None:
        start, end = self._span(keyword)
        before = self.text[:start].rstrip()
        if before.endswith(","):
            self._add("keyword dropped", node, "", (len(before) - 1, end))

    # statements -------------------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call | ast.Await):
            self._add("statement dropped", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._add("statement dropped", node, "pass")
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self.visit(target)
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self._add("check dropped", node, "pass")
            self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add("loop", node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._add("loop", node, "pass")

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion guards against our own mistakes; dropping it changes nothing that works."""


def _written(operator: ast.operator | ast.cmpop) -> str:
    return {
        ast.Lt: "<",
        ast.LtE: "<=",
        ast.Gt: ">",
        ast.GtE: ">=",
        ast.Eq: "==",
        ast.NotEq: "!=",
        ast.In: "in",
        ast.NotIn: "not in",
        ast.Is: "is",
        ast.IsNot: "is not",
        ast.Add: "+",
        ast.Sub: "-",
        ast.Mult: "*",
        ast.Div: "/",
        ast.FloorDiv: "//",
        ast.Mod: "%",
        ast.Pow: "**",
        ast.BitAnd: "&",
        ast.BitOr: "|",
        ast.BitXor: "^",
        ast.LShift: "<<",
        ast.RShift: ">>",
        ast.MatMult: "@",
    }[type(operator)]


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )
