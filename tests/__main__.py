"""``python -m tests``: run the tests. ``bin/test`` does so once the environment is there."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

HELP = """\
usage: bin/test [--unit | --slow] [arguments of pytest]

Sets up what is missing, then runs the tests. There are three tiers:

  bin/test          every promise of the service, quickly: on SQLite. 4 to 9 minutes on two cores
  bin/test --slow   those marked slow as well, which take more than a third of a second of
                    processor time each, and on PostgreSQL what is marked both. 11 to 20 minutes;
                    .ci/run is this and bin/check, and a change must pass it
  bin/trials        those marked trial, faults, several hosts, benchmarks; see bin/trials --list

bin/test --unit runs, of the first, what needs no database, no Valkey and no other program.
Files or tests that you name run one after another in one process, everything else in parallel:

  bin/test tests/assets/test_list.py::test_pages -x --pdb
  bin/test tests/projects -k archive

  --seed N              the order of the tests and all random values come from this number, by
                        default from the commit, so that a run can be repeated
  --database DATABASE   run all on sqlite, or all on postgresql

With CI=true, a test that cannot run here is an error instead of being skipped, for example if
npm's registry cannot be reached. The arguments of pytest: .venv/bin/python -m pytest --help
"""


def main(arguments: list[str]) -> None:
    if {"-h", "--help"} & set(arguments):  # without the environment
        sys.stdout.write(HELP)
        return
    from tests.node.__main__ import prepare

    parallel = _parallel(arguments)
    with _compiling() if parallel else contextlib.nullcontext():
        prepare()
    words = [sys.executable, "-m", "pytest", *parallel, *arguments]
    os.execv(sys.executable, words)


def _compiling() -> contextlib.AbstractContextManager[object]:
    """Compile the tests once, beside npm's installation, or each worker of pytest would."""
    stamp = Path(sys.prefix, "tests-compiled")
    if stamp.exists():
        return contextlib.nullcontext()
    stamp.touch()
    words = [sys.executable, "-m", "pytest", "--collect-only", "--quiet"]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _parallel(arguments: list[str]) -> list[str]:
    """How pytest is to distribute tests: not at all if a file is named, which is soon done."""
    if any(".py" in argument for argument in arguments):
        return []
    # More at once than there are processors, as many of them wait for other processes.
    number = str((os.cpu_count() or 2) * 3 // 2)
    return ["-n", number, "--dist", "loadgroup", "--no-loadscope-reorder"]


if __name__ == "__main__":
    main(sys.argv[1:])
