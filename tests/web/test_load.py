"""Many people at once: no error, and every ballot that was acknowledged is there exactly once."""

import asyncio
import socket

import pytest
from typer.testing import CliRunner
from uvicorn.protocols.http.h11_impl import H11Protocol

from asking import Visitor
from benchmarks.kills import exported, killed_under_load, under_load
from benchmarks.load import Load, Plan, differences, press
from epivote.cli import app
from epivote.web.serving import listen
from examples.shapes.answers import QUIZ
from listening import serving_here
from patience import apart

PATIENCE = 120


async def press_until(server, plan, ballots):
    """Keep people busy until so many ballots have been acknowledged."""
    enough, load = asyncio.Event(), Load()
    async with asyncio.timeout(PATIENCE):
        pressing = asyncio.create_task(press(server, plan, enough, load))
        while load.sent < ballots and not pressing.done():
            await asyncio.wait([pressing], timeout=0.02)
        enough.set()
        return await pressing


@pytest.mark.slow
def test_some_people_at_once_lose_nothing(database, tmp_path):
    with serving_here(QUIZ, database) as served:
        load = apart(asyncio.run, press_until(served.address, Plan(people=10), 36))
        out = tmp_path / "ballots.csv"
        told = CliRunner().invoke(app, ["collect", "export", str(QUIZ), "--database", database, "-o", str(out)])
        assert told.exit_code == 0, told.stderr
    assert differences(load.acknowledged, exported(out)) == []
    assert len(load.acknowledged) > 20
    assert load.unanswered == 0
    assert served.failures == []


@pytest.mark.slow
def test_a_load_loses_nothing(database, tmp_path):
    load, kept = apart(under_load, database, Plan(people=30), 4, tmp_path)
    assert differences(load.acknowledged, kept) == []
    assert kept
    assert load.unanswered == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_ten_power_cuts_lose_nothing(database, tmp_path):
    """Killed at any moment and started again: whoever got an answer finds their ballot, whoever did not sends it again."""
    plan = Plan(people=40, pause=0.05, patience=60)
    load, kept = apart(killed_under_load, database, plan, 10, 1.0, tmp_path)
    assert differences(load.acknowledged, kept) == []
    assert len(kept) > 100
    assert load.unanswered > 10, "the kills came in the middle of requests"


def is_undelayed(transport) -> bool:
    """Headers and body that wait for each other's acknowledgement would take 40 ms."""
    return transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_nothing_holds_a_page_back(serve_here, monkeypatch):
    seen = []
    connection_made = H11Protocol.connection_made

    def watched(protocol, transport):
        connection_made(protocol, transport)
        seen.append(is_undelayed(transport))

    monkeypatch.setattr(H11Protocol, "connection_made", watched)
    with Visitor(serve_here()) as visitor:
        visitor.get("/privacy").raise_for_status()
    assert seen == [True]


def test_nor_does_it_in_the_event_loop_of_python_itself():
    async def connected():
        seen = asyncio.get_running_loop().create_future()

        def accepted(_reader, writer):
            seen.set_result(is_undelayed(writer.transport))
            writer.close()

        async with asyncio.timeout(PATIENCE), await asyncio.start_server(accepted, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            writer.close()
            return await seen

    listening = listen("127.0.0.1", 0)
    assert apart(asyncio.run, connected())


def test_the_comparison_sees_what_is_lost_doubled_and_altered():
    told = {("ann", "a"): frozenset({1}), ("ann", "b"): frozenset(), ("bo", "a"): frozenset({2})}
    fine = [(*place, ticks) for place, ticks in told.items()]
    assert differences(told, fine) == []
    assert differences(told, fine[1:]) == ["ann on a: acknowledged [1], kept nothing"]
    assert differences(told, [*fine, fine[0]]) == ["ann on a: acknowledged [1], kept [1] and [1]"]
    assert differences(told, [*fine[:1], ("ann", "b", frozenset({0})), fine[2]]) == [
        "ann on b: acknowledged [], kept [0]"
    ]
    assert differences(told, [*fine, ("cy", "a", frozenset())]) == ["cy on a: acknowledged nothing, kept []"]
