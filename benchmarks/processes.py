"""Measured work runs in fresh processes, which answer with one line of JSON."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
STATUS = Path("/proc/self/status")


def answer_of(module: str, *arguments: str, **environment: str) -> Any:
    """What `python -m benchmarks.MODULE ARGUMENTS` prints last, read as JSON; its progress goes to stderr."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    surroundings = {**os.environ, "TQDM_DISABLE": "1", **environment}
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, env=surroundings)
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines else None


def peak_memory() -> float:
    """Largest resident memory of this process so far, in GB.

    Linux counts it anew for every program that is started (VmHWM); what `getrusage` tells there includes the process
    that started it.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e9
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
