"""Bring about faults under load and show how the service coped, in figures."""

from __future__ import annotations

import argparse
import itertools
import platform
import sys
import tempfile
from pathlib import Path

from tests.faults import deliveries, members, rush
from tests.faults.deliveries import TRIALS
from tests.faults.members import RACES
from tests.faults.rush import CONNECTIONS, PLAN_LIMIT, REQUESTS, TIER_LIMIT, rushes
from tests.faults.store import CALLERS, THREADS, WORKERS, delays_of, faults_of, rows, run
from tests.faults.valkey import STORE_FAULTS, valkey


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.faults", description=__doc__)
    store_faults = [fault.name for fault in STORE_FAULTS]
    races = [race.name for race in RACES]
    trials = [trial.name for trial in TRIALS]
    names = [*store_faults, "rush", *races, *trials]
    parser.add_argument(
        "names",
        nargs="*",
        metavar="FAULT",
        help=f"one or more of {', '.join(names)}; without any, all of them",
    )
    parser.add_argument(
        "--seconds", type=float, default=10, help="how long each fault of Valkey lasts (10)"
    )
    parser.add_argument("--runs", type=int, default=20, help="how often the rush is made (20)")
    parser.add_argument("--rounds", type=int, default=200, help="of each race of members (200)")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    wanted = options.names or names
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}")
    if set(wanted) & set(store_faults):
        sys.stdout.write(
            f"; {WORKERS} web processes of {THREADS} threads, {CALLERS} callers without pause, "
            f"{options.seconds:g} s a fault"
        )
    sys.stdout.write("\n")
    failed = 0
    for fault in STORE_FAULTS:
        if fault.name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="canopy-") as folder:
            report = run(fault, Path(folder), options.seconds)
        wrong = faults_of(report) + delays_of(report)
        failed += bool(wrong)
        sys.stdout.write("\n".join(["", *rows(report), *(f"  WRONG: {line}" for line in wrong)]))
        sys.stdout.write("\n")
        sys.stdout.flush()
    if "rush" in wanted:
        failed += not _rush(options.runs)
    found = itertools.chain(members.report(wanted, options.rounds), deliveries.report(wanted))
    for is_right, text in found:
        failed += not is_right
        sys.stdout.write(f"\n{text}\n")
        sys.stdout.flush()
    return 1 if failed else 0


def _rush(runs: int) -> bool:
    """Whether each rush let exactly as many requests pass as the limits allow."""
    with tempfile.TemporaryDirectory(prefix="canopy-") as folder, valkey(Path(folder)) as store:
        found = rushes(Path(folder), store.url, runs)
    exact = [(plan[200], tier[200]) == (PLAN_LIMIT, TIER_LIMIT) for plan, tier in found]
    sys.stdout.write(
        f"\nrush: {REQUESTS:,} requests at once on {CONNECTIONS} connections, {rush.WORKERS} web "
        f"processes\n  exactly {PLAN_LIMIT} of a plan and {TIER_LIMIT} of a tier passed in "
        f"{sum(exact)} of {runs} runs\n"
    )
    return all(exact)


if __name__ == "__main__":
    sys.exit(main())
