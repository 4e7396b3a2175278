"""Requests that were made to be expensive take two seconds of processor time at most, and keep
nobody else waiting."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from app.db.connections import close_all
from tests.api.server import Server, gunicorn, web_processes
from tests.make import Client, make_account
from tests.make.apps import CHEAP_PASSWORDS
from tests.postgres import PostgresServer
from tests.templates import DATABASES
from trials.faults.heavy.answers import answers
from trials.faults.heavy.bodies import bodies, shape_sizes
from trials.faults.heavy.forms import forms
from trials.faults.heavy.heads import heads
from trials.faults.heavy.load import Cost, Others, flood, measure, watch_others
from trials.faults.heavy.request import SECRETS, Request
from trials.faults.trial_report import TrialReport
from trials.faults.valkey import valkey

NAME = "heavy"
WORKERS, THREADS = 2, 4
SECONDS, WAIT = 2.0, 0.1  # of processor time for one request; that p99 of /healthz may take
AT_ONCE = 16
_SHOWN = 10


class Measured(NamedTuple):
    """What each request cost alone, the costliest first, and what others saw while some of them
    came at once."""

    costs: list[Cost]
    alone: Others
    beside: dict[str, tuple[Others, Counter[int]]]


def report(names: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """For each database, whether all was right, and the figures, if this trial is among the names.

    All requests are sent to the first. Of those that it refused, the others would see nothing.
    """
    shapes = shape_sizes() if NAME in names else {}
    accepted: set[str] | None = None
    for database in DATABASES if NAME in names else ():
        began = time.monotonic()
        with (
            tempfile.TemporaryDirectory(prefix="canopy-") as folder,
            instance(Path(folder), database) as server,
        ):
            sent = chosen(all_requests(server.client, shapes), accepted)
            measured = measure_all(server, sent, seconds=20)
        accepted = {cost.name for cost in measured.costs if cost.status < 400}
        made = judge(measured)
        took = time.monotonic() - began
        head = f"{NAME}: requests that were made to be expensive; {database}, {took:.0f} s"
        wrong = [f"  WRONG: {line}" for line in made.wrong + made.late]
        yield not wrong, "\n".join([head, *made.lines, *wrong])


def all_requests(client: Client, shapes: Mapping[str, int]) -> Iterator[Request]:
    """Every request. ``shapes``: those of boundaries, with as many positions as each may have."""
    return itertools.chain(bodies(client, shapes), heads(client), forms(client), answers(client))


def chosen(requests: Iterable[Request], names: Collection[str] | None) -> Iterator[Request]:
    """Those of these names; None for all."""
    return (each for each in requests if names is None or each.name in names)


@contextmanager
def instance(folder: Path, database: str = DATABASES[0]) -> Iterator[Server]:
    """The web server as it is shipped, without limits of requests."""
    with ExitStack() as stack:
        environ = {
            "REDIS_URL": stack.enter_context(valkey(folder)).url,
            "LOG_LEVEL": "warning",
            "RATE_LIMIT_DISABLED": "true",
            "WEB_WORKERS": str(WORKERS),
            "WEB_THREADS": str(THREADS),
            **SECRETS,
            **CHEAP_PASSWORDS,
        }
        if database == "postgresql":
            folder.chmod(0o755)
            postgres = stack.enter_context(PostgresServer(folder / "pg"))
            environ["DATABASE_URL"] = postgres.create_database()
        server = stack.enter_context(gunicorn(folder, **environ))
        yield server
        with server.client.app.app_context():
            close_all()


def measure_all(server: Server, requests: Iterable[Request], seconds: float) -> Measured:
    """Send each request alone, and then the worst of them at once, for so long each time."""
    workers = web_processes(server.pid, WORKERS)
    measured = [(measure(server.port, workers, request), request) for request in requests]
    measured.sort(key=lambda each: -each[0].processor)
    other = make_account(server.client.app)
    alone = watch_others(server.port, other, seconds / 4)
    beside = {}
    for name, worst in _worst([request for _, request in measured]).items():
        with flood(server.port, worst) as statuses:
            others = watch_others(server.port, other, seconds)
        beside[name] = others, statuses
    return Measured([cost for cost, _ in measured], alone, beside)


def _worst(requests: Sequence[Request]) -> dict[str, list[Request]]:
    """The costliest that come at once. ``requests``: the costliest first."""
    of_values: dict[str, Request] = {}
    for request in requests:
        of_values.setdefault(request.name.rpartition(" = ")[2], request)
    return {
        f"the worst {AT_ONCE}": list(requests[:AT_ONCE]),
        f"the worst of {AT_ONCE} kinds": list(of_values.values())[:AT_ONCE],
        f"the worst one {AT_ONCE} times": [requests[0]] * AT_ONCE,
    }


def judge(measured: Measured) -> TrialReport:
    """The figures, and what was past its bound. Processor time depends little on other work."""
    made, costs = TrialReport(), measured.costs
    refused = sum(cost.status >= 400 for cost in costs)
    made.lines = [
        f"  {len(costs):,} requests one after the other, {refused:,} of them refused; processor "
        f"time of the web processes ({SECONDS:g} s allowed)",
        *(f"    {each.processor:5.2f} s  {each.status}  {each.name}" for each in costs[:_SHOWN]),
        f"  with nothing else ({WAIT * 1000:.0f} ms allowed for the p99 of /healthz)",
        *measured.alone.lines,
    ]
    for cost in costs:
        explained = cost.status < 500 or cost.status == 503
        made.check(explained, f"{cost.name} was answered {cost.status}")
        long = f"{cost.name} took {cost.processor:.2f} s of processor time"
        made.check(cost.processor <= SECONDS, long)
    for name, (others, statuses) in measured.beside.items():
        shown = ", ".join(f"{number:,} with {each}" for each, number in sorted(statuses.items()))
        made.lines += [f"  beside {name}: {shown}", *others.lines]
        failed = {status for status in statuses if status >= 500} - {503}
        made.check(not failed, f"{name} were answered {failed}")
        made.check_time(f"/healthz (p99) beside {name}", others.healthz.p99, WAIT)
        others.judge(made, f"beside {name}")
    return made
