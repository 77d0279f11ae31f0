"""No test waits for ever: whatever is waited for has a deadline."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
RUN_BY_TESTS = [ROOT / "examples" / "crowd" / "served.py", ROOT / "benchmarks" / "kills.py"]
RUN_BY_TESTS += [ROOT / "benchmarks" / "postgresql.py"]
WITH_A_TIMEOUT = {"run", "call", "check_call", "check_output", "urlopen", "create_connection", "communicate"}
WITHOUT_ARGUMENTS = {"wait", "join", "get", "result", "acquire"}  # of processes, threads, queues, events and futures
NEVER = {"readline"}
PROCESS, BOUND = "Popen", "in_time"


def endless(source: str) -> list[str]:
    """Calls that may wait for ever, as they are written."""
    tree = ast.parse(source)
    bound = {id(given) for call in calls(tree) if name_of(call) == BOUND for given in call.args}
    return [ast.unparse(call) for call in calls(tree) if may_hang(call) and id(call) not in bound]


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def name_of(call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def may_hang(call) -> bool:
    name, options = name_of(call), {each.arg for each in call.keywords}
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if name in WITH_A_TIMEOUT:
        is_meant = owner == "subprocess" or name not in ("run", "call")
        return is_meant and "timeout" not in options
    if name in WITHOUT_ARGUMENTS:
        return bool(owner) and not call.args and not options
    return name in NEVER or name == PROCESS


BOUND_BY_DASK = {TESTS / "engines" / "test_dask.py"}  # by its settings, and by the limit on every test
FILES = sorted({*TESTS.rglob("*.py")} - BOUND_BY_DASK)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_every_wait_has_a_deadline(path):
    assert endless(path.read_text()) == []


@pytest.mark.parametrize("path", RUN_BY_TESTS, ids=lambda path: path.stem)
def test_so_has_every_wait_of_what_tests_run(path):
    assert [call for call in endless(path.read_text()) if PROCESS not in call] == []


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(['x'], check=True)",
        "subprocess.check_output(['x'])",
        "process.wait()",
        "process.communicate()",
        "thread.join()",
        "messages.get()",
        "future.result()",
        "done.wait()",
        "run.stdout.readline()",
        "urllib.request.urlopen('http://x')",
        "socket.create_connection(('x', 1))",
        "with subprocess.Popen(['x']) as run: pass",
    ],
)
def test_the_walk_sees_what_may_hang(source):
    assert len(endless(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(['x'], timeout=5)",
        "process.wait(timeout=5)",
        "thread.join(5)",
        "', '.join(names)",
        "names.get('a')",
        "future.result(5)",
        "asyncio.run(work())",
        "runner.run(test)",
        "with in_time(subprocess.Popen(['x'])) as run: pass",
    ],
)
def test_and_leaves_the_rest_alone(source):
    assert endless(source) == []
