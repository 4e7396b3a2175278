"""Run again and again what could fail by chance.

Each test that once did, 200 times; and 10 times every module of the suite that waits for something,
starts processes or threads, or listens.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from tests.architecture.sources import ROOT

# What failed by chance once, and why it did.
ONCE_FAILED: Final = (
    "tests/mail/test_smtp.py::TestUnavailableServer",  # seconds of a busy machine
    "tests/web_server/test_half_sent_requests.py",  # the same
    "tests/shapes/test_overlay.py::test_what_would_take_too_long_is_unknown",  # processor time
    "tests/shapes/test_simplify.py::test_a_comb_takes_no_longer_than_the_largest_may",  # the same
    "tests/boundaries/test_overlaps.py",  # the same
    "tests/postgresql/test_connection.py::test_further_changes_fail_at_once_and_reads_go_on",
    "tests/maintenance/test_pruning_webhooks.py",  # two clocks
    "tests/running/test_setup.py",  # an install that ended before it was killed
    "tests/running/test_real.py::test_the_web_server_alone",  # a start that took long
    "tests/jobs/test_sentinel.py",  # a failover that took long
)

_WAITS: Final = re.compile(
    r"\b(subprocess|Popen|threading|Thread|together|sleep|wait_for|socket|os\.fork|listen|"
    r"monotonic|service\(|served\(|running\()"
)


def main() -> int:
    """Exit codes: 0 nothing failed, 1 something did."""
    parser = argparse.ArgumentParser("bin/trials chance --", description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="of what once failed (200)")
    parser.add_argument("--waiting", type=int, default=10, help="times of what waits (10)")
    options = parser.parse_args()
    found = _repeat(ONCE_FAILED, options.times), _repeat(waiting(), options.waiting)
    return 1 if any(found) else 0


def waiting() -> list[str]:
    """The modules of tests that wait for something, by the words in them."""
    tests = sorted((ROOT / "tests").glob("**/test_*.py"))
    return [str(path.relative_to(ROOT)) for path in tests if _WAITS.search(path.read_text())]


def _repeat(names: Sequence[str], times: int) -> int:
    if not times or not names:
        return 0
    sys.stdout.write(f"\n{len(names)} modules or tests, {times} times each\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "pytest", "-n", "3", "--slow", "--count", str(times), *names]
    return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
