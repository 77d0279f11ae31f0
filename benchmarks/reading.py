"""A file of ballots read and nothing else, for benchmarks/files.py.

`python -m benchmarks.reading FILE` prints the seconds spent, CPU seconds and peak memory in GB as JSON.
"""

from __future__ import annotations

import json
import sys
import time

from benchmarks.processes import peak_memory
from epivote import read_export


def main(source: str) -> None:
    """Read it and tell."""
    begin = time.perf_counter()
    encode = read_export(source).encode_seconds
    read = time.perf_counter() - begin - encode
    print(json.dumps({"read": read, "encode": encode, "CPU": time.process_time(), "memory": peak_memory()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
