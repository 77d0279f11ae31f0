"""The example of a program that votes."""

import os
import subprocess
import sys
from pathlib import Path

from examples.vote_by_program import ticks_for

SCRIPT = Path(__file__).parent.parent.parent / "examples" / "vote_by_program.py"


def run(*arguments, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, env=environment, timeout=60
    )


def test_it_votes(serve_here):
    served = serve_here()
    told = run(served.address, served.key, "--name", "matcher")
    assert (told.stdout, told.stderr) == ("matcher voted on 3 of 4 instances of 'Which animals?'.\n", "")
    assert run(served.address, "--name", "matcher", EPIVOTE_KEY=served.key).returncode == 0, "again does no harm"
    assert "set EPIVOTE_KEY" in run(served.address, EPIVOTE_KEY="").stderr
    refused = run(served.address, "wrong")
    assert refused.returncode == 1
    assert "the key is missing or wrong" in refused.stderr


def test_what_it_ticks():
    task = {"alternatives": [{"name": "cat", "help": "purrs"}, {"name": "owl", "help": ""}]}
    seen = {"alternatives": ["cat", "owl"], "text": "It purrs at night"}
    assert ticks_for(seen, task) == ["cat"]
    assert ticks_for({**seen, "text": "A dog"}, task) == []
    assert ticks_for({**seen, "text": ""}, task) is None
