"""A plugin of pytest: which tests run on which database, in which order and from which seed, and
that they leave the checkout as it was."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from typing import Any, Final

import hypothesis
import pytest

from tests import templates
from tests.captured import captured
from tests.programs import describe_programs

# The seed is ours (``--seed``), also with CI=true, for which Hypothesis has one of its own.
hypothesis.settings.register_profile("canopy", derandomize=False, deadline=None, database=None)
hypothesis.settings.load_profile("canopy")

_MEMORY: Final = "/dev/shm"  # databases there wait for no disk
_ROOM: Final = 2 << 30  # bytes
_BROWSER: Final = "tests/browser"
_CHECKOUT: Final = pytest.StashKey[set[tuple[str, int]]]()
_LONG: Final = 60  # characters or bytes
TIERS: Final = ("slow", "trial")  # markers of what runs only if it is asked for
# What a unit test does without: an application with its database, and the servers behind it.
_SERVERS: Final = frozenset({"app", "empty_app", "postgres", "valkey_url", "scratch"})
_NO_UNITS: Final = (
    "architecture",
    "browser",
    "cli",
    "demo",
    "deploy",
    "docs",
    "processes",
    "release",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow as well")
    parser.addoption(
        "--unit",
        action="store_true",
        help="run only the tests that need no database, no Valkey and no other program",
    )
    parser.addoption(
        "--seed",
        type=int,
        help="what the order of the tests and all that is random comes from, a number; "
        "by default it is the commit's",
    )
    parser.addoption(
        "--database",
        choices=templates.DATABASES,
        help="run each test on this database; by default on SQLite, and with --slow on PostgreSQL "
        "as well if it is marked both",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let pytest-randomly and Hypothesis begin with our seed, and keep what is made in memory."""
    if "TMPDIR" not in os.environ and _has_room(_MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = _MEMORY
    # Not in the checkout: what it notes of its constants, and of Unicode.
    hypothesis.configuration.set_hypothesis_home_dir(templates.root() / "hypothesis")
    # Else each program that a test starts is compiled anew: five seconds of processor time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["CANOPY_COMMAND"] = "bin/canopy"  # in every hint, however the tests were started
    if config.option.seed is None:
        config.option.seed = _seed_of_commit()
    config.option.randomly_seed = config.option.seed
    config.option.hypothesis_seed = str(config.option.seed)


def _has_room(folder: str) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _ROOM


def pytest_sessionstart(session: pytest.Session) -> None:
    if _watches_checkout(session.config):
        session.stash[_CHECKOUT] = _checkout()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With CI=true, the suite fails if it wrote into the checkout that it tests."""
    if _watches_checkout(session.config):
        changed = session.stash[_CHECKOUT] ^ _checkout()
        if changed:
            names = ", ".join(sorted({name for name, _ in changed})[:9])
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            sys.stderr.write(f"\nThe tests wrote into the checkout: {names}\n")


def _watches_checkout(config: pytest.Config) -> bool:
    return os.environ.get("CI") == "true" and not hasattr(config, "workerinput")


def _checkout() -> set[tuple[str, int]]:
    """The files of the checkout, with the times at which they were changed. Bytecode is no file of
    it, and of an environment only what set-up says of it."""
    found = set()
    for folder, folders, names in os.walk(templates.ROOT):
        if folder == str(templates.ROOT / ".venv"):
            folders.clear()
        folders[:] = [each for each in folders if each not in ("__pycache__", ".git")]
        found |= {(path := f"{folder}/{name}", os.lstat(path).st_mtime_ns) for name in names}
    return found


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what lives as long as the run, and look at the rest
    less often: by default, that takes a tenth of the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


def pytest_report_header(config: pytest.Config) -> list[str]:
    repeat = f"repeat this order and these random values with --seed {config.option.seed}"
    return [repeat, *describe_programs()]


def _seed_of_commit() -> int:
    command = ["git", "-C", str(templates.ROOT), "rev-parse", "HEAD"]
    try:
        done = captured(command)
    except OSError:
        return 0
    return int(done.stdout[:8], 16) if done.returncode == 0 else 0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test runs on SQLite and, with ``--slow``, on PostgreSQL if it is marked ``both``."""
    for fixture, scope in (("app", "session"), ("empty_app", None)):
        if fixture not in metafunc.fixturenames:
            continue
        is_on_both = metafunc.config.option.slow and metafunc.definition.get_closest_marker("both")
        names = templates.DATABASES if is_on_both else templates.DATABASES[:1]
        if asked := metafunc.config.option.database:
            names = (asked,)
        metafunc.parametrize(fixture, names, indirect=True, scope=scope)


def pytest_make_parametrize_id(val: object) -> str | None:
    """The name of a test has the beginning of a long text: one of a file would have megabytes."""
    if isinstance(val, (str, bytes)) and len(val) > _LONG:
        return f"{val[:_LONG]!r} and {len(val) - _LONG} more"
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Leave out what is not asked for, and keep in one worker what shares a set-up. What takes
    longest comes first, and each worker changes its database once."""
    _leave_out(config, items)
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[object, ...]:
    package = _package(item)
    folder = str(item.path.parent) if package else ""  # what a folder in it shares ends with it
    is_on_postgresql, is_alone = _database(item) == "postgresql", _group(item) is None
    return package != _BROWSER, not package, folder, not is_on_postgresql, is_alone


def _group(item: pytest.Item) -> str | None:
    """What it shares a set-up with: its module, if a fixture is made once for that, such as a
    server or a filled database, or its package, as all pages have one browser."""
    if package := _package(item):
        return package
    if any(each.scope == "module" for each in _fixtures(item)):
        return f"{item.nodeid.partition('::')[0]} {_database(item)}"
    return None


def _package(item: pytest.Item) -> str:
    """The folder with one of its fixtures that is made once for a package, or nothing."""
    return min((each.baseid for each in _fixtures(item) if each.scope == "package"), default="")


def _fixtures(item: pytest.Item) -> list[pytest.FixtureDef[Any]]:
    made = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
    return [each for fixtures in made for each in fixtures]


def _database(item: pytest.Item) -> str | None:
    """The one that its application uses."""
    return item.callspec.params.get("app") if hasattr(item, "callspec") else None


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked ``trial``, ``slow`` unless ``--slow`` asks for it, and with
    ``--unit`` what is no unit test.
    Whoever chooses tests by ``-m`` does so alone."""
    if config.option.markexpr:
        return
    left_out = TIERS[config.option.slow :]
    deselected, selected = [], []
    for item in items:
        is_left_out = any(map(item.get_closest_marker, left_out))
        is_left_out |= config.option.unit and not _is_unit(item)
        (deselected if is_left_out else selected).append(item)
    config.hook.pytest_deselected(items=deselected)
    items[:] = selected


def _is_unit(item: pytest.Item) -> bool:
    folder = item.path.relative_to(templates.ROOT / "tests").parts[0]
    return folder not in _NO_UNITS and _SERVERS.isdisjoint(getattr(item, "fixturenames", ()))
