"""The files that run a quiz as a service or in a container: read as their programs read them, with options that exist."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from epivote.cli import app

FOLDER = Path(__file__).parents[2] / "examples" / "deploy"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
UNIT = (FOLDER / "epivote-quiz.service").read_text(encoding="utf-8")
CONTAINER = (FOLDER / "Containerfile").read_text(encoding="utf-8")
COMMAND = (FOLDER / "Containerfile.command").read_text(encoding="utf-8")


def steps(text=CONTAINER):
    """Instructions of a container file with what they are given, lines put together."""
    lines = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line.strip()]


def in_unit(key):
    return re.findall(rf"^{key}=(.*)$", UNIT, re.MULTILINE)


def command_of(place):
    if place == "compose":
        return COMPOSE["services"]["quiz"]["command"]
    if place == "unit":
        program, *words = shlex.split(in_unit("ExecStart")[0])
        assert (Path(program).name, words[0]) == ("epivote", "collect")
        return words[1:]
    told = dict(steps())
    assert json.loads(told["ENTRYPOINT"]) == ["epivote", "collect"]
    return json.loads(told["CMD"])


@pytest.mark.parametrize("place", ["compose", "unit", "container"])
def test_options_that_are_used_exist(place):
    name, task, *words = command_of(place)
    told = CliRunner().invoke(app, ["collect", name, "--help"], terminal_width=200)
    assert (told.exit_code, task) == (0, "quiz.toml")
    options = [word for word in words if word.startswith("--")]
    assert options
    assert [option for option in options if option not in told.stdout] == []


@pytest.mark.parametrize("text", [CONTAINER, COMMAND], ids=["quiz", "command"])
def test_the_container_is_built_from_files_that_are_there_and_runs_without_rights(text):
    told = steps(text)
    assert told[0][0] == "FROM"
    assert {name for name, _ in told} <= {
        *("FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD")
    }
    copied = [word for name, given in told if name == "COPY" for word in given.split()[:-1]]
    assert [name for name in copied if not (FOLDER.parents[1] / name).exists()] == []
    names = [name for name, _ in told]
    assert dict(told)["USER"] == "epivote"
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert max(n for n, name in enumerate(names) if name == "RUN") < names.index("USER")


def test_the_container_of_the_command_runs_it_in_the_mounted_folder():
    told = dict(steps(COMMAND))
    assert (told["WORKDIR"], json.loads(told["ENTRYPOINT"])) == ("/data", ["epivote"])
    assert CliRunner().invoke(app, json.loads(told["CMD"])).exit_code == 0


def test_the_quiz_waits_for_its_database_and_only_this_machine_reaches_it():
    quiz, database = COMPOSE["services"]["quiz"], COMPOSE["services"]["database"]
    assert set(COMPOSE) == {"services", "volumes"}
    assert quiz["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert "healthcheck" in database
    assert all(port.startswith("127.0.0.1:") for port in quiz["ports"])
    assert "ports" not in database
    volume, _, place = database["volumes"][0].partition(":")
    assert (volume in COMPOSE["volumes"], place) == (True, "/var/lib/postgresql/data")
    assert (FOLDER / quiz["build"]["context"]).resolve() == FOLDER.parents[1]
    assert (FOLDER.parents[1] / quiz["build"]["dockerfile"]).is_file()
    assert "${POSTGRES_PASSWORD:?" in quiz["environment"]["PGPASSWORD"], "no password of ours stands in the file"


def test_the_unit_is_one_that_systemd_understands(tmp_path):
    verifier = shutil.which("systemd-analyze")
    if verifier is None:
        pytest.skip("systemd-analyze is not here: apt-get install systemd")
    there = UNIT.replace("/opt/epivote/bin/epivote", shutil.which("true")).replace("User=epivote", "User=root")
    (tmp_path / "epivote-quiz.service").write_text(there, encoding="utf-8")
    told = subprocess.run(
        [verifier, "verify", str(tmp_path / "epivote-quiz.service")], capture_output=True, text=True, timeout=60
    )
    assert (told.returncode, told.stderr) == (0, "")


def test_the_unit_may_write_only_where_the_quiz_is():
    assert in_unit("ProtectSystem") == ["strict"]
    assert in_unit("ReadWritePaths") == in_unit("WorkingDirectory") == ["/srv/quiz"]
    assert in_unit("CapabilityBoundingSet") == [""]
