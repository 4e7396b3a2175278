"""Run again and again what could fail by chance.

Each test that once did, 200 times or as often as three minutes allow; and 10 times every module of
the suite that waits for something, starts processes or threads, or listens.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

import pytest

from tests.architecture.sources import ROOT

# What failed by chance once, and why it did.
ONCE_FAILED: Final = (
    # The time until a server that hangs is given up was limited to seconds.
    "tests/mail/test_smtp.py::TestUnavailableServer",
    # So was the time of an answer beside half-sent requests.
    "tests/processes/web_server/test_half_sent_requests.py::test_half_sent_requests_delay_nobody",
    # Seconds of processor time: who else uses it takes some of its caches and speed.
    "tests/geometry/shapes/test_overlay.py::test_what_would_take_too_long_is_unknown",
    "tests/geometry/shapes/test_simplify.py::test_a_comb_takes_no_longer_than_the_largest_may",
    "tests/projects/boundaries/test_overlaps.py::test_the_largest_boundaries_on_one_another_end_in_time",
    # It had a second of processor time for all overlaps, and told of fewer when that was over.
    "tests/projects/boundaries/test_overlaps.py::test_what_could_not_be_compared_is_told",
    # Processor time again: collecting the garbage of a whole run fell into that of some.
    "tests/geometry/test_complexity.py::test_what_would_take_long_is_refused_at_once",
    "tests/geometry/test_complexity.py::test_the_search_for_faults_ends_in_time",
    # A second may pass between two changes, and then one of them waits for the commit.
    "tests/db/postgresql/test_connection.py::test_further_changes_fail_at_once_and_reads_go_on",
    # The doctor left its settings on connections, and pgbouncer gave away ones that had ended.
    "tests/db/postgresql/test_commands_behind_pgbouncer.py",
    # Who waited for a connection did so for 2 seconds; a list lost a row that was added meanwhile.
    "tests/db/postgresql/test_pgbouncer.py",
    # The last entry of the instance's log was one of a test that had moved its clock on.
    "tests/audit/log/test_deleted_accounts.py::test_the_log_of_the_instance_stays",
    # A signal of a test before had started a job already; counts of one before were not sent yet.
    "tests/webhooks/deliveries/test_many_webhooks.py::test_two_workers_send_each_delivery_once",
    "tests/usage/test_local_counts.py",
    # A connection was ended by the server while TLS ended it.
    "tests/mail/test_encryption.py",
    # The map takes no keys while it moves, and the page that still loads it is not typed into.
    "tests/browser/test_forest_keyboard.py::test_the_map_is_moved_and_the_list_filtered",
    # An install was not begun, or over already, when the next command came.
    "tests/processes/test_setup.py::test_a_half_made_one_is_made_anew",
    "tests/processes/test_setup.py::test_an_install_whose_command_was_killed_is_waited_for",
    "tests/processes/test_setup.py::test_two_at_once_install_once",
    # The service took longer to start than was waited for.
    "tests/processes/test_real.py",
    # Sentinels took a server for dead that got no turn for 0.7 seconds.
    "tests/jobs/test_sentinel.py",
    "tests/processes/test_sentinel.py",
    # An id has the time of its machine, from which PostgreSQL's differed by some milliseconds.
    "tests/maintenance/test_pruning_webhooks.py",
    # A free port was given to somebody else before gunicorn listened, or connected to itself.
    "tests/api/test_real_server.py",
    # Valkey did not answer in a quarter of a second, and nothing was counted.
    "tests/limits",
    # A thread changed the minute of a client while that was already waiting for its end.
    "tests/docs/test_limits.py",
    # A job of a test before took the signal that this one's waited for.
    "tests/webhooks/deliveries/test_dispatcher.py::test_a_signal_is_noticed_while_it_lingers",
    # A child slept once for long, and does not wake for a signal that comes as its sleep begins.
    "tests/processes/test_prefork.py::test_it_ends_with_its_children",
    # With the rows of other tests and their statistics, PostgreSQL preferred to sort.
    "tests/account/credentials/test_expiry.py::test_keys_that_expire_soon_are_found_on_their_index",
    # It counted on how much the sockets take, and on 0.05 seconds being enough for an answer.
    "tests/processes/web_server/test_slow_clients.py::test_the_oldest_goes_when_too_much_is_not_read",
)
# What failed by chance and runs in other trials since, as it is of figures, is not repeated here:
# tests/trials/test_faults.py (Valkey fails under load, which a busy machine is not measured in),
# tests/trials/test_heavy.py (seconds), tests/trials/test_instances.py (a clock that is moved, with
# seconds until the next delivery) and two of tests/geometry/test_complexity.py (processor time).

_began: Final = time.monotonic()
_WAITS: Final = re.compile(
    r"\b(subprocess|Popen|threading|Thread|together|sleep|wait_for|socket|os\.fork|listen|"
    r"monotonic|service\(|served\(|running\()"
)


def main() -> int:
    """Exit codes: 0 nothing failed, 1 something did."""
    parser = argparse.ArgumentParser("bin/trials chance --", description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="of what once failed (200)")
    parser.add_argument("--minutes", type=float, default=3, help="and no longer for each (3)")
    parser.add_argument("--waiting", type=int, default=10, help="times of what waits (10)")
    options = parser.parse_args()
    end = ("--minutes", str(options.minutes), "-m", "trial or not trial")
    passed = [_passes(name, [name], options.times, *end) for name in ONCE_FAILED]
    grouped = ("--dist", "loadgroup", "--slow")
    passed.append(_passes("all that waits", waiting(), options.waiting, *grouped))
    return 0 if all(passed) else 1


def waiting() -> list[str]:
    """The modules of tests that wait for something, by the words in them."""
    tests = sorted((ROOT / "tests").glob("**/test_*.py"))
    return [str(path.relative_to(ROOT)) for path in tests if _WAITS.search(path.read_text())]


def _passes(what: str, names: Sequence[str], times: int, *options: str) -> bool:
    """Say how often ``names`` passed; all that pytest says if they did not each time."""
    if not times:
        return True
    command = [sys.executable, "-m", "pytest", "-n", "3", "-p", "trials.chance", *options]
    command += ["--count", str(times), *names]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    summary = done.stdout.strip().rpartition("\n")[2]
    sys.stdout.write(f"{what}\n    {summary}\n{done.stdout if done.returncode else ''}")
    sys.stdout.flush()
    return not done.returncode


# The module is a plugin of pytest as well: what --minutes leaves no time for is skipped.


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--minutes", type=float, default=math.inf, help="begin no test after these")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.monotonic() > _began + 60 * item.config.getoption("--minutes"):
        pytest.skip("its time was over")


if __name__ == "__main__":
    sys.exit(main())
