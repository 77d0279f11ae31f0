"""The report page of what was estimated, with how it came about."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from epivote.cli.fitting import Fitted
from epivote.report.page import write_page


def write_fitted(fitted: Fitted, path: Path, *, anonymize: bool = False, title: str | None = None) -> Path:
    """Write the page, and return where it is."""
    reason = f" ({'; '.join(fitted.reasons)})" if fitted.reasons else ""
    told = {"File": str(fitted.source), "Format": fitted.export.format, "Method": f"{fitted.method}{reason}"}
    if not anonymize:  # it may name a voter
        told["Command"] = shlex.join(["epivote", *sys.argv[1:]])
    notes = (*fitted.export.notes, *fitted.notes)
    return write_page(fitted.summary, path, title, notes, told, anonymize=anonymize)
