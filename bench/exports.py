"""What an export costs: memory, time to the first byte, time in all.

All projects of an account, with 51 positions and five keys of metadata each, by a client that reads
as fast as it can; for the EUDR 10,000 plots of 400 producers, a part of them kept as points.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Final, NamedTuple

from flask import Flask
from sqlalchemy import update

from app.account.credentials.service import create_credential
from app.account.service import create_account
from app.db.extensions import db
from app.db.snapshots import database_url, open_transaction
from app.exports.service import FORMATS
from app.models import Asset, Project
from app.policy.files import EUDR_FORMATS
from bench import report
from bench.report import Effort, judged
from bench.servers import Server, serve, use_last_core
from tests.eudr.plots import fill as fill_plots
from tests.eudr.plots import make_plots
from tests.make.bulk import Filled, fill
from tests.make.wavy import polygon

FULL: Final = Effort(rounds=1, seconds=0)
PROJECTS: Final = 100_000
MOST_MEGABYTES: Final = 60  # over idle
_PIECE: Final = 1024 * 1024
_PAUSE: Final = 5.0  # seconds for which a client reads nothing
_HEAD: Final = (
    "| Export | Size | First byte | In all | Records/s | Peak memory over idle | Target | |\n"
    "|---|---:|---:|---:|---:|---:|---|---|"
)
_METADATA: Final = {
    "region": 6, "certified": True, "height": 12.5, "species": ["oak", "ash"], "note": "Old growth",
}  # fmt: skip
_EUDR: Final = {
    "eudr": "exports/projects?format=eudr&variant=2&points=true",
    "report for the EUDR": "eudr?variant=2&points=true",
}
_PLOTS, _PRODUCERS = 10_000, 400  # of the account for the EUDR
_NO_HEADERS: Final[Mapping[str, str]] = {}


class Cost(NamedTuple):
    """Seconds, bytes, and megabytes of memory."""

    first: float
    whole: float
    size: int
    memory: float


def prepare(folder: Path, url: str, effort: Effort) -> Filled:
    """An instance with so many projects, and a tenth as many assets."""
    filled = fill(folder, url, accounts=1, size=effort.number(PROJECTS))
    account_id = filled.principals[0].account_id
    geometry, metadata = json.dumps(polygon(51)), json.dumps(_METADATA)
    size = len(geometry) + len(metadata)
    values = {"geometry": geometry, "metadata_json": metadata, "stored_bytes": size}
    with open_transaction(
        database_url(filled.app.config["SETTINGS"])
    ) as connection:  # without a time limit
        own = Project.account_id == account_id
        connection.execute(update(Project).where(own).values(values))
        own = Asset.account_id == account_id
        connection.execute(update(Asset).where(own).values(metadata_json=metadata))
    return filled


def prepare_plots(app: Flask, effort: Effort) -> tuple[str, int]:
    """An account with plots for the EUDR. Returns a key of it, and how many plots there are."""
    plots = make_plots(1, plots=effort.number(_PLOTS), producers=effort.number(_PRODUCERS), each=0)
    with app.app_context():
        account = create_account(
            name="Plots", owner_email="plots@example.org", plan="enterprise"
        ).account
        _, key = create_credential(account.id, kind="api_key", name="bench", permissions=["admin"])
        account_id = account.id
        db.session.commit()
    fill_plots(app, account_id, plots)
    return key, len(plots.plots)


def measure(
    server: Server, key: str, query: str, headers: Mapping[str, str] = _NO_HEADERS, pause: float = 0
) -> Cost:
    """The cost of one export.

    Args:
        pause: seconds for which the client reads nothing once it has the first byte.
    """
    server.forget_peak()
    idle = server.memory_mb()
    began = time.perf_counter()
    response = _get(server, key, query, headers)
    size = len(response.read(1))
    first = time.perf_counter() - began
    time.sleep(pause)
    while piece := response.read(_PIECE):
        size += len(piece)
    return Cost(first, time.perf_counter() - began, size, server.memory_mb("VmHWM") - idle)


def _get(server: Server, key: str, query: str, headers: Mapping[str, str]) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=600)
    sent = {"Authorization": f"Bearer {key}", **headers}
    connection.request("GET", f"/v1/{query}", headers=sent)
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(f"{query}: {response.status} {response.read(500)!r}")
    return response


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """The table of one database."""
    use_last_core()
    filled = prepare(folder, new_database(), effort)
    key, size = filled.key, filled.size
    plots_key, plots = prepare_plots(filled.app, effort)
    lines = [_HEAD]
    with serve("wsgi:app", filled.environ) as server:
        others = [name for name in FORMATS["projects"] if name not in EUDR_FORMATS]
        for name in others:  # each loads what it needs
            measure(server, key, f"exports/projects?format={name}&search=nothing-has-this")
        measure(server, plots_key, _EUDR["eudr"])
        for name in others:
            cost = measure(server, key, f"exports/projects?format={name}")
            lines.append(_row(name, size, cost))
        zipped = measure(server, key, "exports/projects", {"Accept-Encoding": "gzip"})
        lines.append(_row("geojson with gzip", size, zipped))
        pause = _PAUSE if effort is FULL else 0.1
        paused = measure(server, key, "exports/projects", pause=pause)
        lines.append(_row(f"geojson, to a client that pauses for {pause:.0f} s", size, paused))
        for name in ("geojson", "gpx"):
            cost = measure(server, key, f"exports/assets?format={name}")
            lines.append(_row(f"assets as {name}", size // 10, cost))
        for name, query in _EUDR.items():
            lines.append(_row(name, plots, measure(server, plots_key, query)))
    return "\n".join(lines)


def _row(what: str, records: int, cost: Cost) -> str:
    return (
        f"| {what}, {records:,} | {cost.size / 1e6:,.1f} MB | {cost.first * 1000:,.0f} ms | "
        f"{cost.whole:,.1f} s | {records / cost.whole:,.0f} | {max(cost.memory, 0):,.0f} MB | "
        f"≤ {MOST_MEGABYTES} MB | {judged(cost.memory <= MOST_MEGABYTES)} |"
    )


if __name__ == "__main__":
    report.measure(run, __doc__, FULL)
