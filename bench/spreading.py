"""How kept-alive connections spread over the web processes, and what an uneven spread costs.

python -m bench.spreading            SQLite
python -m bench.spreading --quick    only sees that it works

The service runs with its own worker class, as two processes of four threads. Eight connections are
opened, many times: how often so many of them are held by one process, at first and after they were
in use for a while. Then one project is read over eight connections, spread evenly and, by a server
of one process, all held by one, in turns.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
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
TRIES: Final = 100
PAUSES: Final = (0.0, 0.005)  # seconds between two connections of one try
IN_USE: Final = 1.0  # seconds
_SETTLE_SECONDS: Final = 0.02  # seconds in which the server accepts, or closes, what the client did


def spreads(
    server: Server, requests: Sequence[bytes], effort: Effort, pause: float
) -> tuple[Counter[str], Counter[str]]:
    """How often connections were spread in which way, such as ``5 : 3``: at first, and after use.

    Args:
        pause: seconds between one connection and the next.
    """
    first, later = Counter[str](), Counter[str]()
    for _ in range(effort.number(TRIES)):
        opened = open_accepted(server.port, CONNECTIONS, pause)
        first[_spread(opened, server)] += 1
        load.exchange(opened, cycle(requests), seconds=min(IN_USE, effort.seconds))
        time.sleep(_SETTLE_SECONDS)
        later[_spread(opened, server)] += 1
        for each in opened:
            each.close()
        time.sleep(_SETTLE_SECONDS)
    return first, later


def _spread(opened: Sequence[socket.socket], server: Server) -> str:
    return " : ".join(map(str, counts(opened, server.workers)))


def rates(
    two: Server, one: Server, requests: Sequence[bytes], effort: Effort
) -> tuple[float, float]:
    """Requests a second over connections that two processes share evenly, and that one holds."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(effort.rounds + 1):
        for server, into in zip((two, one), found, strict=True):
            outcome = load.run(
                server.port,
                cycle(requests),
                connections=CONNECTIONS,
                seconds=effort.seconds,
                processes=server.workers,
            )
            if number:
                into.append(outcome.rate)
    return statistics.median(found[0]), statistics.median(found[1])


def measure(environ: dict[str, str], requests: Sequence[bytes], effort: Effort) -> None:
    """Print what was found."""
    start = partial(serve, "wsgi:app", environ, worker_class=own_worker_class(), all_cores=True)
    with start(workers=PROCESSES) as two, start(workers=1) as one:
        for pause in PAUSES:
            found = spreads(two, requests, effort, pause)
            for when, ways in zip(("at first", "after use"), found, strict=True):
                told = ", ".join(f"{way}: {times}" for way, times in ways.most_common())
                print(f"{pause * 1000:.0f} ms between connections, {when}: {told}")
        even, all_on_one = rates(two, one, requests, effort)
    print(f"Spread evenly {even:,.0f} requests/s, all on one process {all_on_one:,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    effort = QUICK if parser.parse_args().quick else FULL
    print(f"On {report.machine()}.\n")
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        made = make_instance(Path(name) / "instance", projects=20)
        auth = headers(made.key)
        requests = [load.build("GET", f"/v1/projects/{each}", auth) for each in made.project_ids]
        measure(made.environ, requests, effort)


if __name__ == "__main__":
    sys.exit(main())
