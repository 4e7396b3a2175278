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
from trials.machines import network
from trials.machines.programs import NAMES, find_programs, system_tools_missing
from trials.machines.topology import machines
from trials.machines.trial import run
from trials.machines.trials import TRIALS, Trial

_BREAKS_OFF = (
    AssertionError,
    OSError,
    SubprocessError,
    SQLAlchemyError,
    psycopg.Error,
    RedisError,
)
ALWAYS = [name for name in NAMES if name not in ("pgbouncer", "promtool")]


def main() -> int:
    """Exit codes: 0 all is right, 1 something is wrong or was skipped, 2 it cannot run here."""
    options = _options()
    if os.geteuid() != 0:
        return _refuse("bin/trials machines makes network namespaces, so it needs root.")
    if missing := system_tools_missing():
        return _refuse(f"bin/trials machines needs {', '.join(missing)}.")
    if network.INSIDE not in os.environ:
        find_programs()  # fetches what is missing, as long as there is a network
        network.enter()
    network.make_bridge()
    wanted = [trial for trial in TRIALS if trial.name in options.names or not options.names]
    _say(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    programs = find_programs()
    with tempfile.TemporaryDirectory(prefix="canopy-machines-") as made:
        folder = Path(options.keep or made)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        failed = sum(not _run(trial, folder / trial.name, programs) for trial in wanted)
    _say(f"\n{len(wanted) - failed} of {len(wanted)} trials hold")
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
        _say(f"\n{trial.name}: skipped, as these cannot be had: {', '.join(missing)}")
        return False
    began = time.monotonic()
    try:
        with machines(folder, trial.setup, programs) as made:
            report = run(made, trial.cause, loses=trial.loses)
    except _BREAKS_OFF as error:
        _say(f"\n{trial.name}: {trial.description}\n  WRONG: it broke off: {error}")
        return False
    wrong = report.wrong + report.late
    seconds = time.monotonic() - began
    lines = [f"\n{trial.name}: {trial.description}; {seconds:.0f} s", *report.lines]
    _say("\n".join([*lines, *(f"  WRONG: {line}" for line in wrong)]))
    return not wrong


def _missing(names: Sequence[str], programs: Mapping[str, Program]) -> list[str]:
    return [name for name in names if name not in programs and not shutil.which(name)]


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 2


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
