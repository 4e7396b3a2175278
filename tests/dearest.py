"""A plugin of pytest: which tests took most processor time, in this process and in those that it
started. What a process used counts when it has ended: that of a server that many tests share counts
for the last of them, which is each worker's last for PostgreSQL."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from typing import Final

import pytest

pytest_plugins = ["tests.patched"]

_SHOWN: Final = 20
_KEY: Final = "processor seconds"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    item.stash[_BEGAN] = _processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown":
        report.user_properties.append((_KEY, _processor_seconds() - item.stash[_BEGAN]))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    taken = Counter[str]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "teardown":
                taken[report.nodeid] = dict(report.user_properties).get(_KEY, 0.0)
    if len(taken) > 1:
        total = sum(taken.values())
        terminalreporter.section(f"the dearest of {total:.0f} s of processor time")
        for name, seconds in taken.most_common(_SHOWN):
            terminalreporter.write_line(f"{seconds:7.2f} s  {name}")


_BEGAN: Final = pytest.StashKey[float]()


def _processor_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
