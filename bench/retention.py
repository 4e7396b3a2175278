"""How fast expired rows are deleted, and how much requests suffer meanwhile.

python -m bench.retention                 SQLite
python -m bench.retention --postgres      PostgreSQL, a server of its own
python -m bench.retention --write         written into docs/measured/retention.md too
python -m bench.retention --events 20000  fewer events than a full run has
python -m bench.retention --seconds 1     a shorter time before and after the job

The web server runs as two processes, the job in one of its own, as in the worker. Clients read and
write at a constant rate, while the job deletes and without it: before its first run, between its
runs, and after the last. So what else slows the machine for a while slows both. Each event has a
delivery and an entry of the log.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import count, cycle, pairwise
from pathlib import Path
from typing import Final

from app.db.connections import close_all
from app.factory import create_app
from bench import pruning, report, storage
from bench.callers import Caller, calling, latencies
from bench.delivering import percentile
from bench.http import headers, on_postgres
from bench.instance import Instance, boundary, make_instance
from bench.retention_rows import Stored, expired_left, lost, store
from bench.servers import own_worker_class, serve
from bench.wire import build
from config import load_settings

EVENTS: Final = 300_000
SECONDS: Final = 10.0  # before the job, and again after it
WARM_UP: Final = 5.0
READS, PAGES, WRITES = 30, 10, 10  # a second
PER_SECOND: Final = 3 * 200  # rows that expire at 200 events a second
WORST: Final = 1.5  # times as long as without the job, apart from noise

Period = tuple[float, float]
LINE: Final = "| {} | {} | {} | {} | {} | {} |"


def measure(database_url: str, events: int, seconds: float) -> str:
    """What was found on one database, in Markdown."""
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as folder:
        instance = make_instance(Path(folder) / "instance", database_url=database_url)
        with create_app(load_settings(instance.environ)).app_context():
            stored = store(events)
            print(f"{stored.rows:,} rows are stored.", file=sys.stderr, flush=True)
            callers = _callers(instance)
            with storage.watched() as room:
                pruned, without = _run(instance, callers, seconds)
            left, missing = expired_left(), lost(stored)
            close_all()
    return "\n\n".join(
        [
            _times(callers, pruned.runs, without),
            "\n".join(f"- {line}" for line in (*_facts(stored, pruned, left, missing), *room)),
        ]
    )


def _callers(instance: Instance) -> list[Caller]:
    auth = headers(instance.key)
    items = [build("GET", f"/v1/projects/{each}", auth) for each in instance.project_ids]
    return [
        Caller("reads", cycle(items), READS),
        Caller("reads", cycle([build("GET", "/v1/projects", auth)]), PAGES),
        Caller("writes", _creations(auth), WRITES),
    ]


def _creations(auth: dict[str, str]) -> Iterator[bytes]:
    for number in count():
        body = {"name": f"Created {number}", "geometry": boundary(number)}
        yield build("POST", "/v1/projects", auth, json.dumps(body).encode())


def _run(
    instance: Instance, callers: list[Caller], seconds: float
) -> tuple[pruning.Pruned, list[Period]]:
    """The job beside the callers, and the periods without it: before, between its runs, after."""
    start = partial(serve, "wsgi:app", instance.environ, worker_class=own_worker_class())
    with start(workers=2, all_cores=True) as server, calling(server.port, callers):
        time.sleep(WARM_UP)
        first = _period(seconds)
        pruned = pruning.result(pruning.start(instance.environ))
        gaps = [(end, begin) for (_, end), (begin, _) in pairwise(pruned.runs)]
        return pruned, [first, *gaps, _period(seconds)]


def _period(seconds: float) -> Period:
    began = time.perf_counter()
    time.sleep(seconds)
    return began, time.perf_counter()


def _times(callers: list[Caller], beside: list[Period], without: list[Period]) -> str:
    """The table of latencies, beside the job and without it."""
    lines = [
        LINE.format("", "without the job", "with it", "Ratio", "Noise", ""),
        "|---|---:|---:|---:|---:|---|",
    ]
    for kind in ("reads", "writes"):
        find = partial(latencies, callers, kind)
        found = find(without), find(beside), find(without[::2]), find(without[1::2])
        for name, share in (("p50", 0.5), ("p99", 0.99), ("longest", 1.0)):
            first, second, *parts = (percentile(each, share) for each in found)
            noise, ratio = max(parts) / min(parts), second / first
            mark = _mark(ratio, noise) if name == "p99" else ""
            cells = (f"{first:.1f} ms", f"{second:.1f} ms", f"{ratio:.2f}", f"{noise:.2f}")
            lines.append(LINE.format(f"{kind}, {name}", *cells, mark))
    return "\n".join(lines)


def _mark(ratio: float, noise: float) -> str:
    if noise > WORST:
        return "too noisy to tell"
    return "met" if ratio <= WORST * noise else "**missed**"


def _facts(stored: Stored, pruned: pruning.Pruned, left: int, missing: int) -> Iterator[str]:
    lengths = [end - begin for begin, end in pruned.runs]
    rate, at_work = stored.expired / pruned.seconds, sum(lengths)
    share = at_work / pruned.seconds
    yield (
        f"{stored.expired:,} expired rows were deleted in {pruned.seconds:.0f} s: {rate:,.0f} rows "
        f"a second, {rate / PER_SECOND:.1f} times the {PER_SECOND} that expire at 200 events a "
        "second."
    )
    yield (
        f"The job ran {len(pruned.runs)} times, {share:.0%} of the time, at most "
        f"{max(lengths):.1f} s; it deleted {stored.expired / at_work:,.0f} rows a second."
    )
    times = [1000 * each for each in pruned.transactions]
    yield (
        f"{len(times):,} transactions: median {percentile(times, 0.5):.0f} ms, p99 "
        f"{percentile(times, 0.99):.0f} ms, longest {max(times):.0f} ms, "
        f"{sum(times) / 10 / at_work:.0f} % of the job's time."
    )
    kept = stored.rows - stored.expired
    yield f"Of {kept:,} rows that must stay, {missing:,} are gone; {left:,} expired rows are left."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--postgres", action="store_true", help="measure on PostgreSQL")
    parser.add_argument("--events", type=int, default=EVENTS, help="that are stored")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="before and after the job")
    parser.add_argument("--write", action="store_true", help="write into docs/measured/ too")
    chosen = parser.parse_args()
    run = partial(measure, events=chosen.events, seconds=chosen.seconds)
    page = on_postgres(run) if chosen.postgres else run("")
    report.publish("retention", chosen, page)


if __name__ == "__main__":
    sys.exit(main())
