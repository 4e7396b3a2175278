"""What the parts of a request cost: the service as it is, and without each of them in turn.

python -m bench.parts              SQLite
python -m bench.parts --postgres   PostgreSQL, a server of its own
python -m bench.parts --write      written into docs/measured/parts.md too
python -m bench.parts --quick      only sees that it works

Only here can a part be left out; the service has no switch for it.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.auth import guard
from app.geometry import read_boundary
from app.http import logging, middleware
from app.limits import limiter
from app.limits.storage import WindowStorage
from app.limits.windows import LimitResult, Window
from app.projects import reading
from app.values import strict_json
from bench import load, replacing, report
from bench.effort import QUICK, Effort
from bench.http import geometry_cpu, headers, on_postgres, post_cpu
from bench.instance import Instance, make_instance, polygon
from bench.replacing import remembered, replace
from bench.servers import LEFT_OUT, Server, serve, use_last_core

FULL: Final = Effort(rounds=5, seconds=2.0)
_POSITIONS: Final = 1_000


def _credential() -> None:
    """Each credential is looked up once, and remembered; what it remembers of its last use would
    be written with each request."""
    replace(guard, "authenticate", remembered(guard.authenticate))
    replace(guard, "record_use", lambda _noted_at, _ids, *_touches: None)


def _resource() -> None:
    """Each project is read once, and remembered."""
    replace(reading, "read_project", remembered(reading.read_project))


def _limits() -> None:
    replace(limiter, "init_app", lambda _app: None)


def _valkey() -> None:
    verdict = LimitResult(
        True, 0.0, (Window("minute", 1000, 1, 60.0), Window("day", 1000, 1, 60.0))
    )
    replace(
        WindowStorage,
        "hit_account",
        lambda _storage, _account, _credential, _minute, _day, _window: verdict,
    )


def _log() -> None:
    replace(logging, "_log_request", lambda response: response)


def _headers() -> None:
    """No security headers, and one request id for all."""
    middleware.SECURITY_HEADERS.clear()
    replace(middleware, "new_id", lambda _kind: "req_01k9zq3mgse2j7tbyw5c4r8nhd")


class Part(NamedTuple):
    """A part of a request that can be left out."""

    what: str
    leave_out: Callable[[], None]
    header: str = ""  # that no answer has without this part


PARTS: Final[dict[str, Part]] = {
    "credential": Part("looking up the credential and its account", _credential),
    "resource": Part("reading the project's row", _resource),
    "limits": Part("both limits and the usage", _limits, "X-RateLimit-Limit"),
    "valkey": Part("of these, the request to Valkey", _valkey),
    "log": Part("the log line", _log),
    "headers": Part("request id and security headers", _headers, "X-Frame-Options"),
}


def leave_out(names: str) -> None:
    """Take parts out of this process, before the application is made."""
    for name in filter(None, names.split(",")):
        PARTS[name].leave_out()


def of_a_reading(instance: Instance, effort: Effort) -> list[tuple[str, float]]:
    """Microseconds of processor time for ``GET /v1/projects/{id}``: all, and what each part takes.

    Last come what is left without any of them, and bare Flask.
    """
    auth = headers(instance.key)
    requests = [load.build("GET", f"/v1/projects/{each}", auth) for each in instance.project_ids]
    most = [name for name in PARTS if name != "valkey"]  # which is not asked without the limits
    variants = ["", *PARTS, ",".join(most)]
    with ExitStack() as stack:
        servers = [
            stack.enter_context(serve("bench.reduced:app", instance.environ | {LEFT_OUT: variant}))
            for variant in variants
        ]
        bare = stack.enter_context(serve("bench.bare:app", {}))
        plain = [load.build("GET", "/item", {})]
        measured = _in_turn([(each, requests) for each in servers] + [(bare, plain)], effort)
        for variant, server in zip(variants, servers, strict=True):
            gone = [PARTS[name].header for name in filter(None, variant.split(","))]
            replacing.check(server.port, requests[0], gone)
    whole, *others = measured
    taken = [(PARTS[name].what, whole - cost) for name, cost in zip(PARTS, others, strict=False)]
    return [
        ("all of it", whole),
        *taken,
        ("what remains without all of these", measured[-2]),
        ("bare Flask", measured[-1]),
    ]


def _in_turn(servers: list[tuple[Server, list[bytes]]], effort: Effort) -> list[float]:
    """Microseconds a request of each server: medians of alternating rounds after a first one."""
    found: list[list[float]] = [[] for _ in servers]
    for number in range(effort.rounds + 1):
        for (server, requests), costs in zip(servers, found, strict=True):
            before = server.cpu_seconds()
            outcome = load.run(server.port, cycle(requests), connections=8, seconds=effort.seconds)
            if number:
                costs.append((server.cpu_seconds() - before) / outcome.requests * 1e6)
    return [statistics.median(costs) for costs in found]


def of_a_create(instance: Instance, effort: Effort) -> list[tuple[str, float]]:
    """The same for ``POST /v1/projects`` with 1,000 positions, from what is refused to all."""
    geometry = polygon(_POSITIONS)
    body = json.dumps({"name": "Measured", "geometry": geometry}).encode()
    with serve("wsgi:app", instance.environ) as server:
        post_cpu(server, instance, b"", effort.number(50))
        count = effort.number(400)
        refused, plain, whole = (
            post_cpu(server, instance, sent, count) * 1e6
            for sent in (None, b"", json.dumps(geometry).encode())
        )
    parsed = _in_process(lambda: strict_json.loads(body), effort)
    checked = _in_process(lambda: read_boundary(geometry), effort)
    return [
        ("all of it", whole),
        ("rejected for its empty body", refused),
        ("a project without a boundary, with its event, counters and indexes", plain - refused),
        ("parsing the body", parsed),
        ("checking and measuring the boundary", checked),
        ("the rest: a longer row, its box, its text", whole - plain - parsed - checked),
        ("pyproj's area and shapely's validity alone", geometry_cpu(_POSITIONS, count) * 1e6),
    ]


def _in_process(call: Callable[[], Any], effort: Effort) -> float:
    """Microseconds of processor time."""
    rounds, calls = [], effort.number(200)
    for _ in range(effort.rounds):
        before = time.process_time()
        for _ in range(calls):
            call()
        rounds.append((time.process_time() - before) / calls * 1e6)
    return statistics.median(rounds)


def measure(database_url: str, effort: Effort = FULL) -> dict[str, list[tuple[str, float]]]:
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as folder:
        instance = make_instance(Path(folder) / "instance", database_url=database_url)
        return {
            "`GET /v1/projects/{id}`": of_a_reading(instance, effort),
            "`POST /v1/projects`, 1,000 positions": of_a_create(instance, effort),
        }


def table(name: str, parts: list[tuple[str, float]]) -> str:
    lines = [f"| {name} | µs |", "|---|---:|"]
    return "\n".join([*lines, *(f"| {part} | {cost:,.0f} |" for part, cost in parts)])


def main() -> None:
    chosen = report.chosen(__doc__)
    use_last_core()
    os.environ["LOG_FORMAT"] = "json"
    run = partial(measure, effort=QUICK if chosen.quick else FULL)
    found = on_postgres(run) if chosen.postgres else run("")
    report.publish("parts", chosen, "\n\n".join(table(*each) for each in found.items()))


if __name__ == "__main__":
    sys.exit(main())
