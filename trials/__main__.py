"""Run trials: what takes too long for every change, or needs a machine of its own.

Without a name, those that must hold before a release: about an hour on two cores. What follows --
is for the trial itself: bin/trials faults -- web-kills
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from trials.report import say


class Trial(NamedTuple):
    """``minutes`` are about how many it takes on two cores; ``when`` is ``release``, ``weekly``, or
    empty where it is run when its figures are wanted."""

    name: str
    purpose: str
    minutes: int
    command: Sequence[str]
    when: str = ""


def _pytest(*arguments: str) -> tuple[str, ...]:
    return ("pytest", "-n", "2", "--dist", "loadgroup", *arguments)


def _bench(module: str, purpose: str, minutes: int) -> Trial:
    return Trial(f"bench.{module}", f"{purpose} (--postgres)", minutes, (f"bench.{module}",))


TRIALS: Final = (
    Trial("faults", "processes, stores and disks fail; hostile clients and files", 25,
          ("trials.faults",), "release"),
    Trial("machines", "hosts and links fail, hosts are upgraded; needs root", 12,
          ("trials.machines",), "release"),
    Trial("guides", "the operator's guides, walked by their own commands; needs root", 6,
          ("trials.guides",), "release"),
    Trial("browser", "long flows in a real browser", 8,
          _pytest("-m", "trial", "tests/browser"), "release"),
    Trial("firefox", "applications that lead on are reached in Firefox", 1,
          ("trials.firefox",), "release"),
    Trial("gis-programs", "GDAL, OWSLib and QGIS edit 2,500 projects; LibreOffice", 1,
          ("trials.clients",), "release"),
    Trial("others", "620 files of public repositories, compared with GDAL", 8,
          ("trials.others",), "release"),
    Trial("fuzz", "made-up requests and sequences of changes", 6,
          ("trials.fuzz",), "release"),
    Trial("long-tests", "all other tests marked trial", 10,
          _pytest("-m", "trial", "tests", "--ignore=tests/browser"), "weekly"),
    Trial("postgresql", "every test of .ci/run on PostgreSQL", 18,
          _pytest("--slow", "--database", "postgresql", "tests"), "weekly"),
    Trial("pythons", "every test of .ci/run on newer Pythons", 40,
          ("trials.pythons",), "weekly"),
    Trial("heavy", "requests made to be expensive end soon, and hold up nobody", 60,
          ("trials.heavy",), "weekly"),
    _bench("compare", "beside a conventional application and bare Flask", 6),
    _bench("parts", "what the parts of a request cost", 3),
    _bench("growth", "lists of up to a million projects", 18),
    _bench("deliveries", "what delivering costs, and how soon events arrive", 7),
    _bench("exports", "memory and time of exports", 2),
    _bench("imports", "reading, applying and undoing 50,000 features", 15),
    _bench("pages", "the page of projects and its map in a browser", 8),
    Trial("bench.weight", "memory, processor time and start of bin/serve", 10, ("bench.weight",)),
)  # fmt: skip
ALL: Final = tuple(trial.name for trial in TRIALS)
_GROUPS: Final = ("release", "weekly", "all")


def main() -> int:
    """Exit codes: 0 each trial holds, 1 one does not, 2 there is none of that name."""
    arguments = sys.argv[1:]
    more = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        "bin/trials", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a trial, weekly or all")
    parser.add_argument("--list", action="store_true", help="what each is for, how long it takes")
    options = parser.parse_args(arguments[:more])
    if unknown := set(options.names) - {*ALL, *_GROUPS}:
        parser.error(f"no such trial: {', '.join(sorted(unknown))}; bin/trials --list names them")
    if options.list:
        for each in TRIALS:
            say(f"{each.name:17} {each.minutes:3} min  {each.when:8} {each.purpose}")
        return 0
    wanted = options.names or ["release"]
    chosen = [each for each in TRIALS if {each.name, each.when, "all"} & {*wanted}]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    failed = [each.name for each in chosen if not _holds(each, arguments[more + 1 :])]
    say(f"\n{len(chosen) - len(failed)} of {len(chosen)} trials hold")
    if failed:
        say(f"failed: {' '.join(failed)}")
    return 1 if failed else 0


def _holds(trial: Trial, more: Sequence[str]) -> bool:
    seed = str(random.SystemRandom().randrange(2**32))  # another order of the tests each time
    words = [*trial.command, *(("--seed", seed) if trial.command[0] == "pytest" else ()), *more]
    say(f"\n{trial.name}: python -m {' '.join(words)}")
    began, code = time.monotonic(), _end_of([sys.executable, "-m", *words])
    minutes = (time.monotonic() - began) / 60
    say(f"{trial.name}: {'failed' if code else 'holds'}; {minutes:.1f} min")
    return code == 0


def _end_of(command: Sequence[str]) -> int:
    """The exit code of a command. Where SIGTERM ends this process, the command ends first, as by
    Ctrl-C, with the servers that it has started. A test that cannot be run is skipped, and says so,
    with CI=true as well."""
    environ = {name: text for name, text in os.environ.items() if name != "CI"}
    with subprocess.Popen(command, env=environ) as trial:
        try:
            return trial.wait()
        except SystemExit:
            trial.send_signal(signal.SIGINT)
            raise


if __name__ == "__main__":
    sys.exit(main())
