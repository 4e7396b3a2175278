"""Real servers for the tests, one of a kind for each worker of pytest-xdist; which tests run, in
which order, and from which seed."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import hypothesis
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.api import expensive
from app.db.connections import close_all
from app.factory import create_app
from app.running import embedded
from app.security import passwords
from config import load_settings
from tests import contract, entry_checks, statement_checks, templates
from tests.make import Client, make_account
from tests.make.apps import app_without_tables
from tests.make.browser import PASSWORD
from tests.postgres import PostgresServer
from tests.postgresql.standby import Standby, standby_of

DATABASES = ("sqlite", "postgresql")
# Argon2 is slow on purpose, and nearly every test makes an account with an owner.
CHEAP_PASSWORDS = {
    "PASSWORD_TIME_COST": "1",
    "PASSWORD_MEMORY_KIB": "8",
    "PASSWORD_PARALLELISM": "1",
}
GOOD_PASSWORDS = (PASSWORD, "correct horse battery")
_addresses = itertools.count(11 << 24 | 1)  # 11.0.0.1


class Visitor(FlaskClient):
    """A test client with an address of its own, as requests of one address are limited together.

    It reads and closes each response, as a server does, unless ``buffered`` is False: others wait
    until a large one is closed.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.environ_base["REMOTE_ADDR"] = str(ipaddress.ip_address(next(_addresses)))

    def open(self, *args: Any, buffered: bool = True, **options: Any) -> TestResponse:
        return super().open(*args, buffered=buffered, **options)


Flask.test_client_class = Visitor


pytest_plugins = ["tests.dearest"]

# The seed is ours (``--seed``), also with CI=true, for which Hypothesis has one of its own.
hypothesis.settings.register_profile("canopy", derandomize=False, deadline=None, database=None)
hypothesis.settings.load_profile("canopy")

_CHECKOUT: Final = pytest.StashKey[set[tuple[str, int]]]()
TIERS: Final = ("slow", "trial")  # markers of what runs only if it is asked for


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow as well")
    parser.addoption(
        "--seed",
        type=int,
        help="what the order of the tests and all that is random comes from, a number; "
        "by default it is the commit's",
    )
    parser.addoption(
        "--database",
        choices=DATABASES,
        help="run each test on this database; by default on SQLite, and on PostgreSQL as well "
        "if it is marked both",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let pytest-randomly and Hypothesis begin with our seed."""
    if config.option.seed is None:
        config.option.seed = _seed_of_commit()
    config.option.randomly_seed = config.option.seed
    config.option.hypothesis_seed = str(config.option.seed)


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
    """Let the garbage collector leave alone what lives as long as the run."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    return f"repeat this order and these random values with --seed {config.option.seed}"


def _seed_of_commit() -> int:
    command = ["git", "-C", str(templates.ROOT), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return 0
    return int(done.stdout[:8], 16) if done.returncode == 0 else 0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test runs on SQLite, and on PostgreSQL as well if it is marked ``both``."""
    if "app" in metafunc.fixturenames:
        names = DATABASES if metafunc.definition.get_closest_marker("both") else DATABASES[:1]
        if asked := metafunc.config.option.database:
            names = (asked,)
        metafunc.parametrize("app", names, indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not asked for, and keep in one worker what shares a set-up."""
    _leave_out(config, items)
    for item in items:
        if _shares_set_up(item):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _shares_set_up(item: pytest.Item) -> bool:
    """Whether it uses a fixture that is made once for its module: a server, a filled database."""
    made = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
    return any(each.scope in ("module", "package") for fixtures in made for each in fixtures)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked ``trial``, and ``slow`` unless ``--slow`` asks for it.
    Whoever chooses tests by ``-m`` does so alone."""
    if config.option.markexpr:
        return
    left_out = TIERS[config.option.slow :]
    found = [item for item in items if any(map(item.get_closest_marker, left_out))]
    config.hook.pytest_deselected(items=found)
    items[:] = [item for item in items if not any(map(item.get_closest_marker, left_out))]


@pytest.fixture(scope="session", autouse=True)
def _check_statements() -> None:
    """Statements are checked from the first one on."""
    statement_checks.install()
    entry_checks.install()


@pytest.fixture(scope="session", autouse=True)
def _known_passwords() -> Iterator[None]:
    """The passwords of the tests' own people are good. To judge one again takes a quarter of what
    an account does."""
    judge = passwords.zxcvbn

    def judge_others(password: str, **options: Any) -> Any:
        return {"score": 4} if password in GOOD_PASSWORDS else judge(password, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "zxcvbn", judge_others)
        yield


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The number that everything random comes from."""
    return int(pytestconfig.option.seed)


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A folder of this worker's own; its path is short, as sockets need."""
    folder = Path(tempfile.mkdtemp(prefix="canopy-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(scratch: Path) -> Iterator[PostgresServer]:
    """A PostgreSQL server."""
    with PostgresServer(scratch / "pg") as server:
        yield server


@pytest.fixture(scope="session")
def standby(postgres: PostgresServer, scratch: Path) -> Iterator[Standby]:
    """A standby of that server."""
    with standby_of(postgres, scratch / "standby") as made:
        yield made


@pytest.fixture(scope="session")
def standby_of_another(scratch: Path) -> Iterator[Standby]:
    """A standby of a server that nothing else uses."""
    with (
        PostgresServer(scratch / "another") as another,
        standby_of(another, scratch / "its-standby") as made,
    ):
        yield made


@pytest.fixture(scope="session")
def valkey_url(scratch: Path) -> str:
    """A Valkey server; it ends with the last process that uses it, which is this one."""
    return embedded.ensure(scratch / "valkey")


@pytest.fixture(scope="session")
def app(request: pytest.FixtureRequest, scratch: Path, valkey_url: str) -> Iterator[Flask]:
    """The application, with its schema and nothing in it, on the database of ``request.param``."""
    environ = {
        "INSTANCE_PATH": str(scratch / request.param),
        "REDIS_URL": f"{valkey_url}?db={DATABASES.index(request.param)}",
        "METRICS_TOKEN": "the-metrics-token",
        "LOG_LEVEL": "error",
        **CHEAP_PASSWORDS,
    }
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        environ["DATABASE_URL"] = server.create_database(has_tables=True)
    else:
        templates.copy_sqlite(scratch / request.param)
    made = create_app(load_settings(environ))
    yield made
    with made.app_context():
        close_all()


@pytest.fixture(params=DATABASES)
def empty_app(request: pytest.FixtureRequest, tmp_path: Path, valkey_url: str) -> Iterator[Flask]:
    """The application on a database of its own, without tables."""
    environ = {"REDIS_URL": valkey_url}
    if request.param == "postgresql":
        environ["DATABASE_URL"] = request.getfixturevalue("postgres").create_database()
    with app_without_tables(tmp_path / "instance", **environ) as made:
        yield made


@pytest.fixture
def client(app: Flask) -> Client:
    """A caller with an API key that may do everything, in an account of its own."""
    return make_account(app)


@pytest.fixture
def stranger(app: Flask) -> Client:
    """The same for another account."""
    return make_account(app)


@pytest.fixture(autouse=True)
def _check_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test fails when a statement or an entry was wrong, when a request was answered 5xx that the
    test does not say it provokes (``@pytest.mark.provokes(503)``), or when a large response was
    not closed."""
    mark = request.node.get_closest_marker("provokes")
    contract.provoked = frozenset(mark.args if mark else ())
    yield
    contract.provoked = frozenset()
    found = statement_checks.take_findings() + entry_checks.take_findings()
    if expensive._turn.locked():
        found.append("a large response was not closed")
    assert not found, "\n".join(found)


@pytest.fixture(autouse=True)
def _same_umask() -> Iterator[None]:
    """A command that ran in this process made its files private; later tests make files that other
    users read."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the shell that runs the tests reaches them."""
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "INSTANCE_PATH", "PORT", "HOST"):
        if name in os.environ:
            monkeypatch.delenv(name)
