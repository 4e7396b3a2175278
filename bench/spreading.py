"""How kept-alive connections spread over the web processes, and what an uneven spread costs.

python -m bench.spreading            SQLite
python -m bench.spreading --quick    only sees that it works

The service runs with its own worker class, as two processes of four threads. Eight connections are
opened at once, many times: how often so many of them are held by one process. Then one project is
read over eight connections, spread evenly and all held by one process, in turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Final

from bench import load, report
from bench.compare import CONNECTIONS, PROCESSES
from bench.effort import QUICK, Effort
from bench.http import headers
from bench.instance import make_instance
from bench.servers import Server, own_worker_class, serve
from bench.spread import counts, open_accepted

FULL: Final = Effort(rounds=5, seconds=2.0)
TRIES: Final = 200
PAUSES: Final = (0.0, 0.005)  # seconds between two connections of one try


def spreads(server: Server, tries: int, pause: float) -> Counter[str]:
    """How often connections were spread in which way, such as ``5 : 3``."""
    found: Counter[str] = Counter()
    for _ in range(tries):
        opened = open_accepted(server.port, CONNECTIONS, pause)
        found[" : ".join(map(str, counts(opened, server.workers)))] += 1
        for each in opened:
            each.close()
        time.sleep(0.02)  # until the server has closed them too
    return found


def rates(server: Server, requests: list[bytes], effort: Effort) -> tuple[float, float]:
    """Requests a second over connections that are spread evenly, and that one process holds."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(effort.rounds + 1):
        for processes, into in zip((server.workers, server.workers[:1]), found, strict=True):
            outcome = load.run(
                server.port,
                cycle(requests),
                connections=CONNECTIONS,
                seconds=effort.seconds,
                processes=processes,
            )
            if number:
                into.append(outcome.rate)
    return statistics.median(found[0]), statistics.median(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    effort = QUICK if parser.parse_args().quick else FULL
    print(f"On {report.machine()}.\n")
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        made = make_instance(Path(name) / "instance", projects=20)
        kind = own_worker_class()
        with serve(
            "wsgi:app", made.environ, workers=PROCESSES, worker_class=kind, all_cores=True
        ) as server:
            for pause in PAUSES:
                tries = effort.number(TRIES)
                found = spreads(server, tries, pause)
                told = ", ".join(f"{how}: {times}" for how, times in found.most_common())
                print(f"{tries} tries, {pause * 1000:.0f} ms between connections: {told}")
            auth = headers(made.key)
            requests = [
                load.build("GET", f"/v1/projects/{each}", auth) for each in made.project_ids
            ]
            even, one = rates(server, requests, effort)
    print(
        f"Spread evenly {even:,.0f} requests/s, all on one process {one:,.0f}: {even / one:.2f} ×"
    )


if __name__ == "__main__":
    sys.exit(main())
