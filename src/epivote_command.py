"""The installed `epivote` command, apart from the package so that Ctrl-C is answered while that is still loaded."""

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130  # exit code after Ctrl-C: 128 plus the number of SIGINT, as shells have it


def main() -> None:
    """Run the command; streams that are closed take what is written to them and keep nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  open to the end, and pathlib is slow to load
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from epivote.cli import app

    signal.signal(signal.SIGINT, usual)
    try:
        app(prog_name="epivote")
    except SystemExit as end:
        sys.exit(_exit_code(end))


def _exit_code(end: SystemExit) -> str | int | None:
    """The code to end with: 0 if all that went wrong is that nobody reads the output any more."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    else:
        if not isinstance(end.__context__, BrokenPipeError):
            return end.code
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still held goes nowhere when Python ends
    return 0


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Nothing is open yet that would have to be closed."""
    os.write(2, b"epivote: interrupted\n")
    os._exit(INTERRUPTED)
