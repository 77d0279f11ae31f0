"""A command of epivote run in this process, for benchmarks/files.py.

`python -m benchmarks.watched aggregate FILE --timings ...` prints, as JSON, the seconds of every part as the command
states them, CPU seconds, and peak memory in GB.
"""

from __future__ import annotations

import io
import json
import sys
import time
from contextlib import redirect_stdout

from benchmarks.processes import peak_memory
from epivote.cli import app


def main(arguments: list[str]) -> None:
    """Run it and tell."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        app(arguments, standalone_mode=False)
    line = next(line for line in printed.getvalue().splitlines() if line.startswith("Seconds: "))
    parts = (part.split() for part in line.removeprefix("Seconds: ").rstrip(".").split(", "))
    seconds = {name: float(value) for name, value in parts}
    print(json.dumps({**seconds, "CPU": time.process_time(), "memory": peak_memory()}))


if __name__ == "__main__":
    main(sys.argv[1:])
