"""Cause faults under load, and print in figures how the service coped."""

from __future__ import annotations

import argparse
import itertools
import platform
import signal
import sys
import tempfile
from pathlib import Path

from trials.faults import burst, members, slow_clients, trials
from trials.faults.burst import CONNECTIONS, PLAN_LIMIT, REQUESTS, TIER_LIMIT, bursts
from trials.faults.heavy import reading, trial
from trials.faults.members import RACES
from trials.faults.trials import TRIALS
from trials.faults.valkey import VALKEY_FAULTS, valkey
from trials.faults.valkey_outages import CALLERS, THREADS, WORKERS, delays_of, faults_of, rows, run


def main() -> int:
    parser = argparse.ArgumentParser("bin/trials faults --", description=__doc__)
    valkey_faults = [fault.name for fault in VALKEY_FAULTS]
    races = [race.name for race in RACES]
    names = [
        *valkey_faults,
        "burst",
        *races,
        *(each.name for each in TRIALS),
        slow_clients.NAME,
        trial.NAME,
        reading.NAME,
    ]
    parser.add_argument(
        "names",
        nargs="*",
        metavar="FAULT",
        help=f"one or more of {', '.join(names)}; all of them by default",
    )
    parser.add_argument(
        "--seconds", type=float, default=10, help="how long each fault of Valkey lasts (10)"
    )
    parser.add_argument("--runs", type=int, default=20, help="how often the burst is repeated (20)")
    parser.add_argument(
        "--rounds", type=int, default=200, help="rounds of each race between members (200)"
    )
    parser.add_argument("--minutes", type=float, default=5, help="of queries, on each database (5)")
    parser.add_argument("--seed", type=int, default=1, help="what queries by chance come from (1)")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    wanted = options.names or names
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # servers end, too
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}")
    if set(wanted) & set(valkey_faults):
        sys.stdout.write(
            f"; {WORKERS} web processes of {THREADS} threads, {CALLERS} callers without a pause, "
            f"{options.seconds:g} s per fault"
        )
    sys.stdout.write("\n")
    failed = 0
    for fault in VALKEY_FAULTS:
        if fault.name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="canopy-") as folder:
            report = run(fault, Path(folder), options.seconds)
        wrong = faults_of(report) + delays_of(report)
        failed += bool(wrong)
        sys.stdout.write("\n".join(["", *rows(report), *(f"  WRONG: {line}" for line in wrong)]))
        sys.stdout.write("\n")
        sys.stdout.flush()
    if "burst" in wanted:
        failed += not _burst(options.runs)
    found = itertools.chain(
        members.report(wanted, options.rounds),
        trials.report(wanted),
        slow_clients.report(wanted),
        trial.report(wanted),
        reading.report(wanted, options.minutes, options.seed),
    )
    for is_right, text in found:
        failed += not is_right
        sys.stdout.write(f"\n{text}\n")
        sys.stdout.flush()
    return 1 if failed else 0


def _burst(runs: int) -> bool:
    """Whether each burst let exactly as many requests pass as the limits allow."""
    with (
        tempfile.TemporaryDirectory(prefix="canopy-") as folder,
        valkey(Path(folder)) as valkey_server,
    ):
        found = bursts(Path(folder), valkey_server.url, runs)
    exact = [(plan[200], tier[200]) == (PLAN_LIMIT, TIER_LIMIT) for plan, tier in found]
    sys.stdout.write(
        f"\nburst: {REQUESTS:,} requests at once on {CONNECTIONS} connections, {burst.WORKERS} web "
        f"processes\n  exactly {PLAN_LIMIT} of a plan and {TIER_LIMIT} of a tier passed in "
        f"{sum(exact)} of {runs} runs\n"
    )
    return all(exact)


if __name__ == "__main__":
    sys.exit(main())
