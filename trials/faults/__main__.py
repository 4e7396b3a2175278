"""Cause faults under load, and print in figures how the service coped."""

from __future__ import annotations

import argparse
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.templates import DATABASES
from trials.faults import clients, disk_full, kills, members, outages, power
from trials.faults.hostile_files import hostile_files
from trials.report import CannotCause, Report, say

_SQLITE, _POSTGRESQL = (DATABASES[0],), (DATABASES[1],)


class Fault(NamedTuple):
    """``run`` gets a database, a folder, and whether the short form is wanted."""

    name: str
    run: Callable[[str, Path, bool], Report]
    databases: Sequence[str] = DATABASES


FAULTS: Final = (
    Fault("valkey", outages.valkey_fails, _SQLITE),
    Fault("valkey-absent", outages.valkey_absent, _SQLITE),
    Fault("restarts", outages.restarts, _POSTGRESQL),
    Fault("locked", outages.locked, _SQLITE),
    Fault("disk-full", disk_full.disk_full, _SQLITE),
    Fault("power", power.power_cuts, _SQLITE),
    Fault("worker-kills", kills.worker_kills),
    Fault("web-kills", kills.web_kills),
    Fault("part-kills", kills.part_kills, _SQLITE),
    Fault("burst", clients.burst, _SQLITE),
    Fault("slow-clients", clients.slow_clients, _SQLITE),
    Fault("members", members.members),
    Fault("hostile-files", hostile_files, _SQLITE),
)


def main() -> int:
    """Exit codes: 0 all held, 1 something was wrong."""
    names = [fault.name for fault in FAULTS]
    parser = argparse.ArgumentParser("bin/trials faults --", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *names], help="all of them by default")
    parser.add_argument("--short", action="store_true", help="in seconds each; times do not count")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # servers end, too
    say(f"{platform.platform()}, Python {platform.python_version()}")
    chosen = [fault for fault in FAULTS if fault.name in (options.names or names)]
    held = [_holds(each, base, options.short) for each in chosen for base in each.databases]
    say(f"\n{sum(held)} of {len(held)} held")
    return 0 if all(held) else 1


def _holds(fault: Fault, database: str, is_short: bool) -> bool:
    """Whether all was right; prints the figures."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="canopy-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            report = fault.run(database, folder, is_short)
        except CannotCause as reason:
            say(f"\n{fault.name}, {database}: not tried: {reason}")
            return True
    say(f"\n{fault.name}, {database}: {fault.run.__doc__} {time.monotonic() - began:.0f} s")
    wrong = [f"  WRONG: {line}" for line in report.wrong]
    late = [f"  LATE: {line}" for line in report.late]
    say("\n".join([*report.lines, *wrong, *late]))
    return not (wrong or (late and not is_short))


if __name__ == "__main__":
    sys.exit(main())
