"""What others call: every public name with its parameters and their defaults, as last accepted."""

import enum
import inspect
import re
from pathlib import Path

import epivote

ROOT = Path(__file__).parent.parent.parent
ACCEPTED = ROOT / "tests" / "golden" / "signatures.txt"


def signature(name, called) -> str | None:
    """`name(parameter=default, ...)` without types; None for what is written in C."""
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    return re.sub(r" at 0x\w+", "", f"{name}{inspect.Signature(plain)}")


def lines():
    for name in epivote.__all__:
        found = getattr(epivote, name)
        if callable(found):
            yield signature(name, found) or name
        if not inspect.isclass(found) or issubclass(found, (enum.Enum, BaseException)):
            continue
        for part in dir(found):
            method = inspect.getattr_static(found, part)
            if part.startswith("_") or not inspect.isroutine(getattr(found, part)):
                continue
            defined = next(base for base in found.__mro__ if part in vars(base))
            if defined.__module__.startswith("epivote") and not isinstance(method, property):
                yield signature(f"{name}.{part}", getattr(found, part)) or f"{name}.{part}"


def test_signatures_are_the_accepted_ones():
    found = "\n".join(lines()) + "\n"
    rejected = ACCEPTED.with_suffix(".new")
    rejected.unlink(missing_ok=True)
    if not ACCEPTED.exists() or found != ACCEPTED.read_text(encoding="utf-8"):
        rejected.write_text(found, encoding="utf-8")
    assert not rejected.exists(), f"if this is meant: mv {rejected.relative_to(ROOT)} {ACCEPTED.relative_to(ROOT)}"
