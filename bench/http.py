"""Reading and writing over HTTP, against bare Flask under the same gunicorn in the same run.

python -m bench.http                     SQLite
python -m bench.http --postgres          PostgreSQL, a server of its own
python -m bench.http --write             written into docs/measured/http.md too
python -m bench.http --quick             only sees that it works
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Final, TypeVar

from pyproj import Geod
from shapely.geometry import shape

from bench import load, report
from bench.counting import count_calls
from bench.effort import QUICK, Effort
from bench.instance import Instance, make_instance, polygon
from bench.servers import Server, serve, use_last_core
from bench.wire import connect, fetch

T = TypeVar("T")

FULL: Final = Effort(rounds=5, seconds=3.0)
CONNECTIONS: Final = 8


@dataclass(frozen=True)
class Row:
    """One measured target: what, how much, against what, and what was asked for."""

    what: str
    measured: str
    against: str
    ratio: float
    target: str
    met: bool


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


def compare_rates(effort: Effort, *servers: tuple[int, list[bytes]]) -> list[float]:
    """Requests a second of each server, a port and its requests: medians of alternating rounds."""
    rates: list[list[float]] = [[] for _ in servers]
    for number in range(effort.rounds + 1):
        for place, (port, requests) in enumerate(servers):
            outcome = load.run(
                port, cycle(requests), connections=CONNECTIONS, seconds=effort.seconds
            )
            if number:  # the first round warms up
                rates[place].append(outcome.rate)
    return [statistics.median(each) for each in rates]


def reads(instance: Instance, scratch: Path, effort: Effort) -> list[Row]:
    """Rows 1 and 2: one project, and a page of 100."""
    auth = headers(instance.key)
    items = [load.build("GET", f"/v1/projects/{each}", auth) for each in instance.project_ids]
    page = load.build("GET", "/v1/projects?per_page=100", auth)
    with serve("wsgi:app", instance.environ) as service:
        with connect(service.port) as connection:
            body = fetch(connection, page)[1]
        (scratch / "page.json").write_bytes(body)
        with serve("bench.bare:app", {"BENCH_PAGE": str(scratch / "page.json")}) as bare:
            plain = load.build("GET", "/item", {})
            plain_page = load.build("GET", "/page", {})
            ours, theirs = compare_rates(effort, (service.port, items), (bare.port, [plain]))
            ours_page, theirs_page = compare_rates(
                effort, (service.port, [page]), (bare.port, [plain_page])
            )
    trips, statements = count_calls(instance)
    return [
        Row("`GET /v1/projects/{id}`, 51 positions, with both limits and usage",
            f"{ours:,.0f}/s", f"bare view {theirs:,.0f}/s", ours / theirs, "≥ 0.50",
            ours / theirs >= 0.5),
        Row("round trips to Valkey per such request, counted by Valkey", f"{trips:.2f}",
            "", trips, "1", trips <= 1),
        Row("statements per such request, counted at the driver", f"{statements:.2f}", "",
            statements, "≤ 2", statements <= 2),
        Row(f"`GET /v1/projects?per_page=100`, {len(body) / 1024:,.0f} KB", f"{ours_page:,.0f}/s",
            f"bare view {theirs_page:,.0f}/s", ours_page / theirs_page, "≥ 0.30",
            ours_page / theirs_page >= 0.3),
    ]  # fmt: skip


def writes(instance: Instance, effort: Effort) -> list[Row]:
    """Rows 3 and 4: processor time of a POST, on top of one that is refused for its empty body.

    What is on top of a POST that creates a project without a boundary is shown besides: it leaves
    out what every write costs, whatever its body.
    """
    rows = []
    with serve("wsgi:app", instance.environ) as service:
        post_cpu(service, instance, b"", effort.number(50))
        for positions, full, limit in ((1_000, 300, 2.0), (100_000, 8, 3.0)):
            refused = post_cpu(service, instance, None, effort.number(400))
            plain = post_cpu(service, instance, b"", effort.number(300))
            geometry = json.dumps(polygon(positions)).encode()
            posted = post_cpu(service, instance, geometry, effort.number(full))
            alone = geometry_cpu(positions, effort.number(full))
            what = f"`POST /v1/projects`, {positions:,} positions, on top of "
            rows += [
                _cost(what + "an empty body", posted - refused, alone, limit),
                _cost(what + "a project without a boundary", posted - plain, alone, limit),
            ]
    with serve("wsgi:app", instance.environ) as service:
        post_cpu(service, instance, b"", 1)
        idle = service.memory_mb()
        service.forget_peak()
        post_cpu(service, instance, json.dumps(polygon(100_000)).encode(), effort.number(8))
        peak = service.memory_mb("VmHWM") - idle
        rows.append(_size("peak memory over idle, 8 times 100,000 positions", peak, 150))
    with serve("wsgi:app", instance.environ) as service:
        path = f"/v1/projects/{instance.project_ids[0]}"
        load.one_by_one(service.port, [load.build("GET", path, headers(instance.key))])
        rows.append(_size("memory of a web worker", service.memory_mb(), 120))
    return rows


def _cost(what: str, seconds: float, alone: float, limit: float) -> Row:
    against = f"area and validity alone {alone * 1000:.2f} ms"
    ratio = seconds / alone
    return Row(what, f"{seconds * 1000:.2f} ms", against, ratio, f"≤ {limit:.0f}", ratio <= limit)


def _size(what: str, megabytes: float, limit: float) -> Row:
    met = megabytes <= limit
    return Row(what, f"{megabytes:.0f} MB", "", megabytes, f"≤ {limit:.0f} MB", met)


def post_cpu(service: Server, instance: Instance, geometry: bytes | None, count: int) -> float:
    """Processor seconds of the server for one POST.

    Args:
        geometry: the JSON of a boundary; empty for a project without one; None for an empty body.
    """
    auth = headers(instance.key)
    requests = []
    for number in range(count):
        name = f"Measured {number} {time.perf_counter_ns() // 1000}"
        body = b"" if geometry is None else b'{"name":"%s"' % name.encode()
        body += b',"geometry":%s}' % geometry if geometry else b"" if geometry is None else b"}"
        requests.append(load.build("POST", "/v1/projects", auth, body))
    before = service.cpu_seconds()
    load.one_by_one(service.port, requests, expected=(422,) if geometry is None else (201,))
    return (service.cpu_seconds() - before) / count


def geometry_cpu(positions: int, count: int) -> float:
    """Processor seconds of pyproj's area and shapely's validity of the same polygon alone."""
    geod = Geod(ellps="WGS84")
    shapes = [shape(polygon(positions)) for _ in range(count)]
    before = time.process_time()
    for each in shapes:
        xs, ys = each.exterior.xy
        geod.polygon_area_perimeter(xs, ys)
        if not each.is_valid:
            raise SystemExit("the measured polygon is not valid")
    return (time.process_time() - before) / count


def measure(database_url: str, effort: Effort = FULL) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as folder:
        instance = make_instance(Path(folder) / "instance", database_url=database_url)
        return reads(instance, Path(folder), effort) + writes(instance, effort)


def main() -> None:
    chosen = report.chosen(__doc__)
    effort = QUICK if chosen.quick else FULL
    use_last_core()
    run = partial(measure, effort=effort)
    rows = on_postgres(run) if chosen.postgres else run("")
    report.publish("http", chosen, report.table(rows))


def on_postgres(measure: Callable[[str], T]) -> T:
    """What ``measure`` finds on a PostgreSQL server of its own, whose address it is given."""
    from tests.postgres import PostgresServer

    with tempfile.TemporaryDirectory(prefix="canopy-pg-") as folder:
        os.chmod(folder, 0o755)
        with PostgresServer(Path(folder) / "pg") as server:
            return measure(server.create_database())


if __name__ == "__main__":
    sys.exit(main())
