"""The wheel, installed as a user would: in a clean environment, without extras and away from the sources."""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MINUTES = 600  # seconds for building and installing, most of them downloads


def done(*command, folder):
    """What a command prints; nothing of this process's environment leads it to the sources."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    ended = subprocess.run(
        [str(each) for each in command],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=MINUTES, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_wheel_runs_the_demo_in_a_clean_environment(tmp_path):
    done(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ROOT, folder=tmp_path)
    (wheel,) = tmp_path.glob("epivote-*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    binaries = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    done(binaries / "python", "-m", "pip", "install", "--quiet", wheel, folder=tmp_path)
    shown = done(binaries / "epivote", "demo", "here", folder=tmp_path)
    assert "23 of 24 sets are exactly right" in shown
    assert f"Open {tmp_path / 'here' / 'report.html'} in a browser" in shown
    assert "<html" in (tmp_path / "here" / "report.html").read_text(encoding="utf-8")
    listed = done(binaries / "python", "-m", "pip", "list", folder=tmp_path)
    assert "fastapi" not in listed
    assert "matplotlib" not in listed
    typed = done(binaries / "python", "-c", "import epivote; print(epivote.__file__)", folder=tmp_path)
    assert Path(typed.strip()).with_name("py.typed").exists()
    code = "from epivote.kernels.library import FOLDER, why_no_loops; print(why_no_loops(), *sorted(FOLDER.iterdir()))"
    reason, *found = done(binaries / "python", "-c", code, folder=tmp_path).split()
    assert reason == "None"
    assert {Path(each).suffix for each in found} <= {".so", ".dylib", ".dll"}  # and neither sources nor compiled.txt
