"""The client of the benches ends a run at the first answer that it does not expect."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, cycle, repeat

import pytest
from flask import Flask

from bench import load
from bench.effort import Effort
from bench.http import compare_rates
from bench.wire import build, connect, fetch
from tests.bench.serving import served

GOOD, BAD = build("GET", "/good", {}), build("GET", "/bad", {})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    app = Flask(__name__)
    app.add_url_rule("/good", "good", lambda: "fine")
    app.add_url_rule("/bad", "bad", lambda: ("out of trees", 503))
    with served(app) as found:
        yield found


def test_counts_good_answers(port: int) -> None:
    outcome = load.run(port, cycle([GOOD]), connections=2, seconds=0.2)
    assert outcome.requests == len(outcome.latencies) > 2
    assert outcome.rate == pytest.approx(outcome.requests / outcome.seconds)
    assert load.one_by_one(port, [GOOD] * 3).requests == 3


@pytest.mark.parametrize("requests", [repeat(BAD), chain([GOOD] * 5, repeat(BAD))])
def test_ends_with_status_and_body(port: int, requests: Iterator[bytes]) -> None:
    with pytest.raises(SystemExit, match=r"(?s)503 Service Unavailable.*out of trees"):
        load.run(port, requests, connections=2, seconds=5)


def test_ends_one_by_one(port: int) -> None:
    with pytest.raises(SystemExit, match=r"(?s)503 .*out of trees"):
        load.one_by_one(port, [GOOD, BAD])


def test_takes_a_refusal_that_is_measured(port: int) -> None:
    assert load.one_by_one(port, [BAD], expected=(503,)).requests == 1
    with pytest.raises(SystemExit, match="200 OK"):
        load.one_by_one(port, [GOOD], expected=(503,))


def test_ends_while_warming_up(port: int) -> None:
    effort = Effort(rounds=0, seconds=0.01)
    with pytest.raises(SystemExit, match="out of trees"):
        compare_rates(effort, (port, [BAD]))


def test_fetch_ends_too(port: int) -> None:
    with connect(port) as connection:
        assert fetch(connection, GOOD)[1] == b"fine"
        with pytest.raises(SystemExit, match="out of trees"):
            fetch(connection, BAD)


def test_replaces_a_connection_that_the_server_closes() -> None:
    app = Flask(__name__)
    app.add_url_rule("/good", "good", lambda: ("fine", {"Connection": "close"}))
    with served(app) as port:
        opened = [connect(port)]
        first = opened[0]
        outcome = load.exchange(opened, cycle([GOOD]), seconds=0.05)
        assert outcome.requests > 2
        assert opened[0] is not first
        opened[0].close()
