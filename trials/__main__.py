"""Run trials: what takes too long to run for every change, or needs a machine of its own."""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

from trials.catalogue import ALL, TRIALS, Trial

_GROUPS: Final = ("release", "weekly")


def main() -> int:
    """Exit codes: 0 each trial holds, 1 one does not, 2 there is none of that name."""
    arguments = sys.argv[1:]
    more = arguments.index("--") if "--" in arguments else len(arguments)
    options = _options(arguments[:more])
    if options.list:
        sys.stdout.write(_listed())
        return 0
    chosen = _chosen(options.names)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    return _run(chosen, arguments[more + 1 :])


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "bin/trials",
        description=__doc__,
        epilog="What follows -- is for the trial itself: bin/trials faults -- kills --seconds 60",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a trial, release, weekly or all; see --list"
    )
    parser.add_argument("--list", action="store_true", help="what each is for, how long it takes")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {*ALL, *_GROUPS, "all"}:
        parser.error(f"no such trial: {', '.join(sorted(unknown))}; bin/trials --list names them")
    if not options.names and not options.list:
        parser.error("name a trial, release, weekly or all; bin/trials --list names them")
    return options


def _listed() -> str:
    lines = []
    for trial in TRIALS:
        lines.append(f"{trial.name:20} {trial.minutes:4} min  {trial.purpose}")
        lines.append(f"{'':30} {trial.when()}")
    total = sum(trial.minutes for trial in TRIALS)
    lines += ["", f"{total} minutes in all, on two cores."]
    return "\n".join(lines) + "\n"


def _chosen(names: Sequence[str]) -> list[Trial]:
    wanted = {name for name in names if name not in _GROUPS}
    for trial in TRIALS:
        in_group = ("release" in names and trial.release) or ("weekly" in names and trial.weekly)
        if "all" in names or in_group:
            wanted.add(trial.name)
    return [trial for trial in TRIALS if trial.name in wanted]


def _run(chosen: Sequence[Trial], more: Sequence[str]) -> int:
    failed = []
    for trial, command in itertools.chain.from_iterable(
        [(trial, command) for command in trial.commands] for trial in chosen
    ):
        words = [*command, *_new_seed(command), *more]
        _say(f"\n{trial.name}: python -m {' '.join(words)}")
        began, used = time.monotonic(), _processor_seconds()
        code = _end_of([sys.executable, "-m", *words])
        seconds, processor = time.monotonic() - began, _processor_seconds() - used
        word = "failed" if code else "holds"
        _say(f"{trial.name}: {word}; {seconds / 60:.1f} min, {processor:.0f} s of processor time")
        if code and trial.name not in failed:
            failed.append(trial.name)
    _say(f"\n{len(chosen) - len(failed)} of {len(chosen)} trials hold")
    if failed:
        _say(f"failed: {' '.join(failed)}")
    return 1 if failed else 0


def _end_of(command: Sequence[str]) -> int:
    """The exit code of a command. Where SIGTERM ends this process, the command ends first, as by
    Ctrl-C, with the servers that it has started."""
    with subprocess.Popen(command, env=_environment()) as trial:
        try:
            return trial.wait()
        except SystemExit:
            trial.send_signal(signal.SIGINT)
            raise


def _new_seed(command: Sequence[str]) -> list[str]:
    """Another order and other random values each time; the commands themselves print theirs."""
    return ["--seed", str(random.SystemRandom().randrange(2**32))] if command[0] == "pytest" else []


def _environment() -> dict[str, str]:
    """The caller's; a trial that cannot be run is skipped, and says so, with CI=true as well."""
    return {name: text for name, text in os.environ.items() if name != "CI"}


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
