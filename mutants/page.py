"""docs/mutants.md: how many planted defects were noticed, which were not, and which change nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mutants.defects import Defect
from mutants.sample import package_of
from mutants.trial import Outcome

HEAD = """\
# Planted defects

`make mutants` plants single-line defects in the source, one at a time: a comparison that includes its bound or not, a
constant a little off, a dropped keyword, check or statement, exchanged arguments, another function. Lines are drawn at
random by seed from all packages. For each defect it runs the tests of `make test` and `make test-long` that touch the
line, the likeliest first and for at most two minutes; the loops in C++ are compiled with the defect and tried with all
tests of what calls them. A defect is *noticed* if a test fails or hangs. Some defects change nothing that anybody could
see; they are set aside, each with its reason, in `mutants/equivalent.toml`.

"""
WRITTEN_FROM = (2022, 7, 11, 13, 17, 21, 22, 23)
"""Seeds of samples whose survivors tests were written for."""


def page(defects: Sequence[Defect], outcomes: Mapping[str, Outcome], reasons: Mapping[str, str], run: str) -> str:
    """The whole page in Markdown; `run` says which sample it is."""
    tried = sorted(defects, key=lambda each: (each.file, each.start))
    return (
        HEAD
        + f"This run: {len(tried)} defects, {run}.\n\n"
        + _table(tried, outcomes, reasons)
        + _survivors(tried, outcomes, reasons)
        + _equivalent(tried, outcomes, reasons)
    )


def which_sample(seed: int) -> str:
    """The seed, and whether tests were written from its sample: only others say how many are noticed in general."""
    seen = "which tests were also written from" if seed in WRITTEN_FROM else "which no test was written from"
    return f"seed {seed}, {seen}"


def noticed(outcome: Outcome) -> bool:
    """Whether a test failed, or would have waited for ever."""
    return outcome.status in ("killed", "timeout")


def _table(defects: Sequence[Defect], outcomes: Mapping[str, Outcome], reasons: Mapping[str, str]) -> str:
    packages = sorted({package_of(defect.file) for defect in defects})
    rows = [(package, [each for each in defects if package_of(each.file) == package]) for package in packages]
    rows.append(("**all**", list(defects)))
    lines = ["| package | planted | equivalent | noticed | not noticed | share noticed |", "|---|---|---|---|---|---|"]
    for package, planted in rows:
        seen = sum(noticed(outcomes[each.key]) for each in planted)
        same = sum(each.key in reasons and not noticed(outcomes[each.key]) for each in planted)
        left = len(planted) - seen - same
        share = f"{seen / (seen + left):.1%}" if seen + left else "-"
        lines.append(f"| {package} | {len(planted)} | {same} | {seen} | {left} | {share} |")
    return "\n".join(lines) + "\n\n"


def _survivors(defects: Sequence[Defect], outcomes: Mapping[str, Outcome], reasons: Mapping[str, str]) -> str:
    left = [each for each in defects if not noticed(outcomes[each.key]) and each.key not in reasons]
    if not left:
        return "## Not noticed\n\nNone.\n\n"
    lines = ["## Not noticed", "", "| key | where | was | planted | tests |", "|---|---|---|---|---|"]
    lines += [
        f"| {each.key} | {_place(each)} | {_code(each.old)} | {_code(each.new)} | {outcomes[each.key].tests} |"
        for each in left
    ]
    return "\n".join(lines) + "\n\n"


def _equivalent(defects: Sequence[Defect], outcomes: Mapping[str, Outcome], reasons: Mapping[str, str]) -> str:
    same = [each for each in defects if not noticed(outcomes[each.key]) and each.key in reasons]
    if not same:
        return ""
    lines = ["## Equivalent", "", "| where | was | planted | why it changes nothing |", "|---|---|---|---|"]
    lines += [f"| {_place(each)} | {_code(each.old)} | {_code(each.new)} | {reasons[each.key]} |" for each in same]
    return "\n".join(lines) + "\n"


def _place(defect: Defect) -> str:
    """Function rather than line: lines move."""
    file = defect.file.removeprefix("src/epivote/")
    return f"{file} `{defect.function}`" if defect.function else file


def _code(text: str) -> str:
    short = " ".join(text.split()).replace("|", "\\|")
    return f"`{short[:60]}`" if short else "(nothing)"
