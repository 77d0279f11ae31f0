"""What all pictures share: colours, axes and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from epivote.atomic import write_files
from epivote.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOR, AGAINST, TOTAL = "#0072b2", "#d55e00", "#555555"
KINDS = (".png", ".svg", ".pdf")


def check_picture(path: Path) -> None:
    """Refuse a file name that no picture can have, or a machine without matplotlib, before any work is done."""
    pyplot()
    if path.suffix not in KINDS:
        raise InputError(f"a picture cannot be written as {path.name!r}; use a name that ends in .png, .svg or .pdf")


def save(figure: Any, path: Path) -> None:
    """A picture file, whole or not at all."""
    check_picture(path)
    write_files({path: lambda target: figure.savefig(target, format=path.suffix[1:], dpi=150)})
    pyplot().close(figure)


def new_axes() -> Axes:
    """Axes on a figure of their own."""
    axes: Axes = pyplot().subplots(layout="constrained")[1]
    return axes


def pyplot() -> Any:
    """Matplotlib's pyplot, or an error that says how to get it."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise InputError("pictures need matplotlib; install it with: pip install 'epivote[plots]'") from None
    mpl.use("Agg", force=False)
    from matplotlib import pyplot as found

    return found
