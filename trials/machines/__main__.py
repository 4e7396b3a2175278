"""Run the service on several hosts, made of network namespaces, and cause faults to them."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import SubprocessError

import psycopg
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from tests.deploy.debian import Program
from tests.deploy.programs import NAMES, find_programs, system_tools_missing
from tests.waiting import wait_for
from trials.faults.traffic import LOST, Reader, Response, reconcile
from trials.machines import hosts
from trials.machines.clients import DOCUMENTED, count
from trials.machines.deployment import EXACT, PLAN_LIMIT, Machines, machines
from trials.machines.faults import TRIALS, Trial
from trials.report import Report, say

_BREAKS_OFF = (
    AssertionError,
    OSError,
    SubprocessError,
    SQLAlchemyError,
    psycopg.Error,
    RedisError,
)
CALM = 3.0  # seconds before and after
DELIVERED = 90  # seconds from an event to its delivery; a first retry comes after 60
PATHS = ("/v1/account", "/healthz", "/readyz")
ALWAYS = [name for name in NAMES if name not in ("pgbouncer", "promtool")]


def main() -> int:
    """Exit codes: 0 all is right, 1 something is wrong or was skipped, 2 it cannot run here."""
    options = _options()
    if os.geteuid() != 0:
        return _refuse("bin/trials machines makes network namespaces, so it needs root.")
    if missing := system_tools_missing():
        return _refuse(f"bin/trials machines needs {', '.join(missing)}.")
    if hosts.INSIDE not in os.environ:
        find_programs()  # fetches what is missing, as long as there is a network
        hosts.enter()
    hosts.make_bridge()
    wanted = [trial for trial in TRIALS if trial.name in options.names or not options.names]
    say(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    programs = find_programs()
    with tempfile.TemporaryDirectory(prefix="canopy-machines-") as made:
        folder = Path(options.keep or made)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        failed = sum(not _run(trial, folder / trial.name, programs) for trial in wanted)
    say(f"\n{len(wanted) - failed} of {len(wanted)} trials hold")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "bin/trials machines --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(
            ["trials:", *(f"  {trial.name:22} {trial.description}" for trial in TRIALS)]
        ),
    )
    parser.add_argument("names", nargs="*", metavar="TRIAL", help="all of them by default")
    parser.add_argument("--keep", metavar="FOLDER", help="new folder where all files and logs stay")
    options = parser.parse_args()
    if unknown := set(options.names) - {trial.name for trial in TRIALS}:
        parser.error(f"no such trial: {', '.join(sorted(unknown))}")
    return options


def _run(trial: Trial, folder: Path, programs: Mapping[str, Program]) -> bool:
    """Whether all was right; prints the figures."""
    if missing := _missing([*ALWAYS, *trial.programs], programs):
        say(f"\n{trial.name}: skipped, as these cannot be had: {', '.join(missing)}")
        return False
    began = time.monotonic()
    try:
        with machines(folder, trial.setup, programs) as made:
            report = _cause(made, trial)
    except _BREAKS_OFF as error:
        say(f"\n{trial.name}: {trial.description}\n  WRONG: it broke off: {error}")
        return False
    wrong = report.wrong + report.late
    seconds = time.monotonic() - began
    lines = [f"\n{trial.name}: {trial.description}; {seconds:.0f} s", *report.lines]
    say("\n".join([*lines, *(f"  WRONG: {line}" for line in wrong)]))
    return not wrong


def _missing(names: Sequence[str], programs: Mapping[str, Program]) -> list[str]:
    return [name for name in names if name not in programs and not shutil.which(name)]


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 2


def _cause(at: Machines, trial: Trial) -> Report:
    """Write and read before, during and after something; then compare all."""
    writers = at.write()
    readers = [
        Reader(endpoint.connect, at.customers[0].client, 9, *PATHS) for endpoint in at.endpoints
    ]
    try:
        wait_for(lambda: all(customer.inbox.arrivals for customer in at.customers), 30)
        at.timeline.note("before", 0, 0)
        time.sleep(CALM)
        trial.cause(at)
        time.sleep(CALM)
    finally:
        for caller in (*writers, *readers):
            caller.ask_to_end()
        for caller in (*writers, *readers):
            caller.end()
    report = Report()
    read = [response for reader in readers for response in reader.responses]
    written = [response for writer in writers for response in writer.responses]
    at.timeline.write(written, read, report)
    delays = reconcile(report, at.app, at.customers, writers)
    report.check_time("an event", max(delays), DELIVERED)
    _check_answers(report, [*written, *read])
    lost = [
        response
        for number, endpoint in enumerate(at.endpoints)
        for caller in (*writers[2 * number : 2 * number + 2], readers[number])
        for response in caller.responses
        if response.status == LOST and not endpoint.may_close
    ]
    report.check_none(lost, "requests had no response")
    limited = at.limited()
    report.lines.append(f"  limits  {count(limited.elements())}; {PLAN_LIMIT} allowed")
    report.check(limited == EXACT, f"limits are not exact: {count(limited.elements())}")
    return report


def _check_answers(report: Report, responses: Sequence[Response]) -> None:
    """Only documented responses, in JSON."""
    strange = [each for each in responses if each.status not in DOCUMENTED | {LOST}]
    report.check_none(strange, "responses are not documented")
    texts = [each for each in responses if each.body and each.status and each.body[:1] not in b"{["]
    report.check_none(texts, "responses are not JSON")


if __name__ == "__main__":
    sys.exit(main())
