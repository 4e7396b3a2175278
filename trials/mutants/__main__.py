"""Change one line of ``app`` at a time, at random, and see whether a test fails.

Which tests run which line is measured once for each state of a checkout, with all of them, and kept
among the machine's temporary files. The tests of a change are those that run its line, or use what
it defines, the nearest first. Everything happens in copies of the checkout.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NoReturn

import coverage
import psutil
import pytest

from tests.architecture.sources import ROOT
from trials.mutants.changes import Mutant, again, mutants, nearness, sample

_PYTEST: Final = (".venv/bin/python", "-m", "pytest", "-q", "--tb=no")
_MAPS: Final = Path(tempfile.gettempdir()) / f"canopy-mutants-{os.getuid()}"
_IMPORTING: Final = 0.1  # seconds that a test takes besides, as its file has to be read
_LONGEST: Final = 300  # seconds, which is more than the 240 after which pytest ends a test
_TIMEOUT: Final = "a timeout"
_SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)

# Every process measures itself, and pytest says which test runs.
_SETTINGS: Final = """\
[run]
source_pkgs = app
data_file = {folder}/measured
parallel = true
relative_files = true
patch = _exit
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = module-not-imported, module-not-measured, no-data-collected, already-imported
[paths]
app =
    app
    */app
"""
_PLUGIN: Final = """\
import coverage

def pytest_runtest_logstart(nodeid):
    coverage.Coverage.current().switch_context(nodeid)

def pytest_sessionfinish():
    coverage.Coverage.current().save()
"""

Result = dict[str, Any]  # the fields of a mutant, and what became of it


def main() -> int:
    """Exit codes: 0 all were tried, 1 one is not caught that was caught before."""
    options = _options()
    found = [each for path in _sources(options.checkout) for each in mutants(*path)]
    if options.repeat:
        former = again(json.loads(options.repeat.read_text())["mutants"], found)
        chosen = [mutant for _, mutant in former if mutant]
    else:
        former, chosen = [], sample(found, options.count, options.seed)
    _say(f"{len(chosen)} of {len(found)} changes of {options.checkout}")
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)  # what tests leave behind becomes a child of this
    signal.signal(signal.SIGTERM, _end)
    try:
        results = _results(chosen, options)
    finally:
        _end_children()
    counts = Counter(each["result"] for each in results)
    _say("\n" + ", ".join(f"{number} {result}" for result, number in sorted(counts.items())))
    for each in [each for each, mutant in former if not mutant]:
        _say(f"gone: {each['path']}:{each['line']} {each['change']}")
    tried_again = [each for each, mutant in former if mutant]
    both = zip(tried_again, results, strict=False)  # of a sample, there are no former ones
    lost = [now for each, now in both if each["result"] == "caught" != now["result"]]
    for each in lost:
        _say(f"caught before, and not now: {each['path']}:{each['line']} {each['change']}")
    return 1 if lost else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("bin/trials mutants --", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many changes (100)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--seconds", type=float, default=90, help="of tests for each (90)")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="another one than this")
    parser.add_argument("--json", type=Path, help="write the results into this file")
    parser.add_argument("--repeat", type=Path, help="try the changes of such a file again")
    options = parser.parse_args()
    options.checkout = options.checkout.resolve()
    return options


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _sources(checkout: Path) -> list[tuple[str, bytes]]:
    files = sorted(checkout.glob("app/**/*.py"))
    return [(str(path.relative_to(checkout)), path.read_bytes()) for path in files]


def _results(chosen: Sequence[Mutant], options: argparse.Namespace) -> list[Result]:
    results: list[Result] = []
    measured = _measured(options.checkout)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        suite = _Suite(_copy(options.checkout, Path(folder)), measured)
        for mutant in chosen:
            result = suite.try_out(mutant, options.seconds)
            results.append(result)
            said = f"by {result['test']}" if result["test"] else ""
            said = said or f"({result['tried']} of {result['tests']} tests)"
            _say(f"{mutant.path}:{mutant.line} {mutant.change:.100}")
            _say(f"    {result['result']} {said}, {result['seconds']} s")
            if options.json:
                options.json.write_text(json.dumps({"mutants": results}, indent=2))
    return results


def _measured(checkout: Path) -> Path:
    """The folder with what the tests of this state of a checkout run; made if there is none."""
    digest = hashlib.sha256()
    for path in sorted([*checkout.glob("app/**/*.py"), *checkout.glob("tests/**/*.py")]):
        digest.update(f"{path.relative_to(checkout)}\0".encode() + path.read_bytes())
    folder = _MAPS / digest.hexdigest()[:16]
    if not folder.exists():
        with tempfile.TemporaryDirectory(prefix="mutants-") as made:
            _measure(_copy(checkout, Path(made)), Path(made))
            _MAPS.mkdir(exist_ok=True)
            (Path(made) / "map").rename(folder)
    return folder


def _measure(copy: Path, folder: Path) -> None:
    """Run all tests, and put into the folder ``map`` what each runs and how long that takes."""
    _say("Running all tests to see which lines each of them runs …")
    settings, made = folder / "coverage.ini", folder / "map"
    seconds = defaultdict[str, float](float)
    settings.write_text(_SETTINGS.format(folder=folder))
    (copy / "mutants_plugin.py").write_text(_PLUGIN)
    command = [*_PYTEST, "-p", "mutants_plugin", "-n", "2", "--dist", "loadgroup"]
    command += ["--no-loadscope-reorder", "--durations", "0", "--durations-min", "0", "tests"]
    variables = os.environ | {"COVERAGE_PROCESS_START": str(settings)}
    with subprocess.Popen(
        command, cwd=copy, env=variables, stdout=subprocess.PIPE, text=True
    ) as tests:
        for line in tests.stdout or ():
            if found := re.match(r"([\d.]+)s (?:setup|call|teardown) +(.*)", line):
                seconds[_test(found[2])] += float(found[1])
            else:
                _say(line.rstrip())
    _end_children()
    if tests.returncode > 1:  # 1: some failed, which those that see no change do again
        sys.exit("The tests could not be run.")
    made.mkdir()
    (made / "seconds.json").write_text(json.dumps(seconds))
    data = coverage.Coverage(str(made / "coverage"), config_file=str(settings))
    data.combine([str(path) for path in folder.glob("measured.*")])
    data.save()


def _test(context: str) -> str:
    """``tests/test_x.py::test_y`` for each case of it, with a group of xdist or a phase of it."""
    return re.split(r"[\[@ ]", context)[0]


class _Suite:
    """The tests in a copy of a checkout, with what each of them runs and how long it takes."""

    def __init__(self, copy: Path, measured: Path) -> None:
        self._copy, self._sources = copy, _sources(copy)
        self._seconds: dict[str, float] = json.loads((measured / "seconds.json").read_text())
        self._data = coverage.CoverageData(str(measured / "coverage"))
        self._data.read()

    def try_out(self, mutant: Mutant, most: float) -> Result:
        """Run the tests of a change for some seconds; the nearest and quickest first."""
        began, spent, tried, found = time.monotonic(), 0.0, 0, ""
        direct, others, is_run = self._tests(mutant)
        near = {each: nearness(each, mutant.path) for each in sorted(direct | others)}

        def is_far(test: str) -> tuple[bool, bool]:
            return test not in direct, not near[test]

        turns = sorted(
            near, key=lambda each: (is_far(each), -near[each], self._seconds[each], each)
        )
        # One after another, as pytest has an order of its own.
        for _, group in itertools.groupby(turns, is_far):
            chosen = []
            for each in group:
                if spent + self._seconds[each] <= most:
                    chosen.append(each)
                    spent += self._seconds[each] + _IMPORTING
            tried += len(chosen)
            found = found or self._failing(mutant, chosen)
        result = "caught" if found else "not caught" if is_run else "run by no test"
        more = {"result": result, "test": found, "tests": len(near), "tried": tried}
        return asdict(mutant) | more | {"seconds": round(time.monotonic() - began, 1)}

    def _tests(self, mutant: Mutant) -> tuple[set[str], set[str], bool]:
        """The tests that run the line of a change, others that may see it, and whether any is known
        to run it.

        Others are asked if the line is run by an import, or in other processes only: those that run
        a line with a name that it defines, those of its package, of the code and of the documents.
        """
        by_line = self._by_line(mutant.path)
        found = set[str]().union(*(by_line.get(line, ()) for line in mutant.lines or by_line))
        direct = found & self._seconds.keys() if mutant.lines else set()
        if direct and "" not in found:
            return direct, set(), True
        others = {each for each in self._seconds if nearness(each, mutant.path)}
        others |= {each for each in self._seconds if re.match("tests/(architecture|docs)/", each)}
        return direct, others | self._users(mutant.names), bool(found)

    def _users(self, names: Sequence[str]) -> set[str]:
        """The tests that run a line with one of the names."""
        found, name = set[str](), re.compile(rf"\b({'|'.join(names)})\b".encode())
        for path, text in self._sources if names else ():
            numbers = [n for n, line in enumerate(text.split(b"\n"), 1) if name.search(line)]
            by_line = self._by_line(path) if numbers else {}
            found.update(*(by_line.get(number, ()) for number in numbers))
        return found & self._seconds.keys()

    def _by_line(self, path: str) -> dict[int, set[str]]:
        found = self._data.contexts_by_lineno(path)
        return {line: set(map(_test, contexts)) for line, contexts in found.items()}

    def _failing(self, mutant: Mutant, tests: list[str]) -> str:
        """What fails with the change and passes without it; empty if nothing does."""
        path = self._copy / mutant.path
        content = path.read_bytes()
        while tests:
            path.write_bytes(mutant.apply(content))
            failed = self._run(tests)
            path.write_bytes(content)
            # The first test of a file that cannot be imported stands for all of them.
            doubtful = [failed] if failed in tests else [each for each in tests if failed in each]
            if failed in ("", _TIMEOUT) or not self._run(doubtful[:1] or tests[:1]):
                return failed
            tests = [each for each in tests if each not in (doubtful or tests)]
        return ""

    def _run(self, tests: list[str]) -> str:
        """The first test or file that fails, or what stops all of them; empty if nothing does."""
        command = [*_PYTEST, "-x", "-p", "no:randomly", *tests]
        with tempfile.TemporaryFile("w+") as output:
            run = subprocess.Popen(command, cwd=self._copy, stdout=output, stderr=output)
            try:
                code = run.wait(_LONGEST + 3 * sum(self._seconds[each] for each in tests))
            except subprocess.TimeoutExpired:
                return _TIMEOUT
            finally:
                _end_children()
            output.seek(0)
            found = re.search(r"^(?:FAILED|ERROR) (\S+)", output.read(), re.MULTILINE)
        if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return ""
        return _test(found[1]) if found else "what all tests import"


def _copy(checkout: Path, folder: Path) -> Path:
    """A copy of a checkout in a folder, with the environment that runs this."""

    def left_out(place: str, names: list[str]) -> set[str]:
        own = {".venv", ".setup", "instance", "node_modules"} if place == str(checkout) else set()
        return {"__pycache__", *own}

    copy = folder / "copy"
    shutil.copytree(checkout, copy, symlinks=True, ignore=left_out)
    (copy / ".venv").symlink_to(sys.prefix)
    folder.chmod(0o755)  # tests start programs as other users
    return copy


def _end(*_: object) -> NoReturn:
    _end_children()
    sys.exit(143)


def _end_children() -> None:
    """End what tests started and left behind."""
    while children := psutil.Process().children():
        for each in children:
            each.kill()
        psutil.wait_procs(children)


if __name__ == "__main__":
    sys.exit(main())
