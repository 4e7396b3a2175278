"""Reading beside pygeoapi, which serves the same boundaries as features, in one run.

python -m bench.beside_pygeoapi               SQLite
python -m bench.beside_pygeoapi --postgres    PostgreSQL
python -m bench.beside_pygeoapi --write       written into docs/measured/beside-pygeoapi.md too
python -m bench.beside_pygeoapi --quick       only sees that it works

The first run installs pygeoapi into an environment of its own. Both run under the same gunicorn as
``bench.compare`` has it, and take turns. pygeoapi has its features in PostgreSQL, and once more in
memory, which shows what it takes whatever holds them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

from app.processes import embedded
from bench import compare, load, report
from bench.compare import ITEM, PAGE, PROCESSES, Measured, Subject
from bench.effort import QUICK, Effort
from bench.http import headers
from bench.instance import boundary, make_instance
from bench.pygeoapi import data, environment
from bench.servers import Server, serve
from bench.wire import connect, fetch
from config import ROOT
from tests.postgres import PostgresServer

FULL: Final = Effort(rounds=5, seconds=3.0)
CONFIG: Final = ROOT / "bench" / "pygeoapi" / "config.yml"
PROJECTS: Final = 1_000
# Pages of both as OGC API Features. Canopy keeps those that it has sent, until a project changes.
NEW_FEATURES: Final = "a page of 1,000 features, first time"
FEATURES: Final = "a page of 1,000 features, again"
_WIDTHS: Final = range(4, 100)  # of `limit`, with zeros before it: more pages than Canopy keeps
_CASES: Final = {ITEM: 1, PAGE: 100, NEW_FEATURES: 1_000, FEATURES: 1_000}  # features


def measure(python: Path, own_url: str, other_url: str, effort: Effort) -> str:
    """A table of all servers in all cases.

    Args:
        python: that of pygeoapi's environment.
        own_url: the address of a new database for Canopy; empty for SQLite.
        other_url: the address of another one on PostgreSQL, for pygeoapi.
    """
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        valkey = embedded.ensure(folder / "valkey")
        stack.callback(embedded.release, folder / "valkey")
        made = make_instance(folder / "instance", database_url=own_url, projects=PROJECTS)
        ids = made.project_ids
        theirs = _pygeoapi(stack, python, folder, other_url, ids)
        ours = compare.canopy(partial(compare.start, stack), made, valkey)
        path = "/ogc/collections/projects/items?limit="
        pages = [
            load.build("GET", f"{path}{1000:0{width}}", headers(made.key)) for width in _WIDTHS
        ]
        ours.cases[FEATURES] = compare.repeated(pages[0])
        ours.cases[NEW_FEATURES] = compare.repeated(*pages)
        subjects = [
            ours,
            Subject(theirs, _cases("districts", ids)),
            Subject(theirs, _cases("held", ids)),
        ]
        for each in subjects:
            _check(each)
        found = {case: compare.in_turn(subjects, case, effort) for case in _CASES}
    return table(found, _version(python))


def _pygeoapi(stack: ExitStack, python: Path, folder: Path, url: str, ids: Sequence[str]) -> Server:
    """Its server, once it has written its OpenAPI document, as it must before it starts."""
    made, document = data.features(ids), folder / "openapi.json"
    held = folder / "features.json"
    held.write_text(json.dumps({"type": "FeatureCollection", "features": made}))
    environ = data.fill(url, made) | {
        "BENCH_FEATURES": str(held),
        "PYGEOAPI_CONFIG": str(CONFIG),
        "PYGEOAPI_OPENAPI": str(document),
    }
    run = (python, "-c", "from pygeoapi import cli; cli()", "openapi", "generate", CONFIG)
    command = (*run, "--format", "json", "--output-file", document)
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environ, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"pygeoapi cannot describe its collections:\n{done.stderr}")
    return stack.enter_context(
        serve("bench.pygeoapi.wsgi:app", environ, workers=PROCESSES, all_cores=True, python=python)
    )


def _cases(collection: str, ids: Sequence[str]) -> dict[str, compare.Requests]:
    path = f"/collections/{collection}/items"
    features = compare.repeated(load.build("GET", f"{path}?limit=1000&f=json", {}))
    return {
        ITEM: compare.repeated(*(load.build("GET", f"{path}/{each}?f=json", {}) for each in ids)),
        PAGE: compare.repeated(load.build("GET", f"{path}?limit=100&f=json", {})),
        FEATURES: features,
        NEW_FEATURES: features,
    }


def _check(subject: Subject) -> None:
    """See that a server answers with the boundaries, and as many as are asked for.

    Raises:
        SystemExit: it does not.
    """
    boundaries = {str(boundary(number)["coordinates"]) for number in range(PROJECTS)}
    with connect(subject.server.port) as connection:
        for case, number in _CASES.items():
            request = next(iter(subject.cases[case]()))
            answer = json.loads(fetch(connection, request)[1])
            found = answer.get("data", answer.get("features", answer))
            found = found if isinstance(found, list) else [found]
            known = sum(_rings(each["geometry"]) in boundaries for each in found)
            if not len(found) == known == number:
                raise SystemExit(f"{request!r} found {known} boundaries, not {number}.")


def _rings(geometry: dict[str, Any]) -> str:
    """The rings of a geometry. OGC API Features has a Polygon as a MultiPolygon."""
    coordinates = geometry["coordinates"]
    return str(coordinates[0] if geometry["type"] == "MultiPolygon" else coordinates)


def table(cases: dict[str, list[Measured]], version: str) -> str:
    """What was measured, as a Markdown table."""
    names = ("Canopy", f"pygeoapi {version}, PostgreSQL", f"pygeoapi {version}, in memory")
    lines = [compare.HEAD, compare.RULE]
    for case, servers in cases.items():
        lines += compare.rows(case, names, servers)
    return "\n".join(lines)


def _version(python: Path) -> str:
    code = "from importlib.metadata import version; print(version('pygeoapi'))"
    return subprocess.check_output([python, "-c", code], text=True).strip()


def main() -> None:
    chosen = report.chosen(__doc__)
    try:
        python = environment.python()
    except environment.NotInstalled as reason:
        sys.exit(str(reason))
    effort = QUICK if chosen.quick else FULL
    with tempfile.TemporaryDirectory(prefix="canopy-pg-") as folder:
        os.chmod(folder, 0o755)
        with PostgresServer(Path(folder) / "pg") as server:
            new = server.create_database
            found = measure(python, new() if chosen.postgres else "", new(), effort)
    report.publish("beside-pygeoapi", chosen, found)


if __name__ == "__main__":
    sys.exit(main())
