"""An instance to run: the real supervisor, worker and Valkey around a small application."""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.processes.instances import Instance, Marked
from tests.waiting import wait_for

# A shell that runs the tests in the background lets them ignore Ctrl-C, and their children too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).parent / "stand_in"

REAL = (
    *("config.py", "gunicorn.conf.py", "worker.py", "wsgi.py"),
    *("app/__init__.py", "app/serve.py", "app/preload.py"),
)
REAL_FOLDERS = (
    *("app/db", "app/geometry", "app/http", "app/jobs", "app/policy", "app/processes"),
    *("app/outbound", "app/security", "app/settings", "app/values"),
)
STOOD_IN = {
    "application.py": "app/factory.py",
    "extensions.py": "app/db/extensions.py",
    "connections.py": "app/db/connections.py",
    "migrations.py": "app/db/migrations.py",
    "maintenance.py": "app/maintenance/sealed_values.py",
    "first_start.py": "app/demo/first_start.py",
    "jobs.py": "app/stand_in/jobs.py",
    "deliver.py": "app/stand_in/deliver.py",
}
# Times after which a process no longer waits for another, and ends it. On a busy machine one that
# is about to end would be killed: so whatever has to end by itself does, or the test waits in vain.
ENDLESS = 600
PATIENT = {
    "app/jobs/valkey.py": {"TIMEOUT_SECONDS": 30},
    "app/processes/instance_lock.py": {"ORPHANS_END_WITHIN": ENDLESS},
    "app/preload.py": {"END_WITHIN": ENDLESS},
    "app/processes/job_worker.py": {"FINISH_WITHIN": ENDLESS, "GIVE_UP_WITHIN": ENDLESS + 1},
    "app/processes/supervisor.py": {"END_WITHIN": ENDLESS, "VALKEY_ENDS_WITHIN": ENDLESS},
    "app/processes/valkey_watchdog.py": {"LOCK_WAIT": ENDLESS, "END_WAIT": ENDLESS},
    "gunicorn.conf.py": {"graceful_timeout": ENDLESS},
}


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder whose path is short, as those of sockets must be; pytest's own grows by the run."""
    folder = Path(tempfile.mkdtemp(prefix="canopy-")).resolve()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[Marked]:
    if not Path("/proc/self/environ").exists():
        pytest.skip("finds what was left behind in /proc")
    marked = Marked(tmp_path)
    yield marked
    marked.kill_all()
    wait_for(lambda: not marked.pids())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository's running parts, with the stand-in for the rest, and patient."""
    tree = tmp_path / "a tree"
    for name in REAL_FOLDERS:
        shutil.copytree(ROOT / name, tree / name)  # with what Python has compiled of it
    for name in REAL:
        shutil.copyfile(ROOT / name, tree / name)
    for source, target in STOOD_IN.items():
        (tree / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STAND_IN / source, tree / target)
    set_constants(tree, PATIENT)
    return tree


def set_constants(tree: Path, constants: Mapping[str, Mapping[str, float]]) -> None:
    """Give constants of the modules of ``tree`` other values."""
    for name, values in constants.items():
        text = (tree / name).read_text()
        for constant, value in values.items():
            pattern = rf"^({constant}(?:: Final)? = )[\d.]+"
            text, changed = re.subn(pattern, rf"\g<1>{value}", text, flags=re.MULTILINE)
            assert changed == 1, f"{name} has no {constant}"
        (tree / name).write_text(text)


def restore_constants(tree: Path, *names: str) -> None:
    """Let modules of ``tree`` be as impatient as they are in the repository."""
    for name in names:
        shutil.copyfile(ROOT / name, tree / name)


@pytest.fixture
def environment(tmp_path: Path, marked: Marked) -> dict[str, str]:
    return {
        **marked.environment,
        "INSTANCE_PATH": str(tmp_path / "instance"),
        "PORT": str(free_port()),
        "WEB_WORKERS": "1",
    }


@pytest.fixture
def serve(tree: Path, environment: dict[str, str]) -> Iterator[Callable[..., Instance]]:
    """Starts an instance; arguments are more settings."""
    started = []

    def start(**more: str) -> Instance:
        full = {**environment, **more}
        started.append(Instance(tree, tree / full["INSTANCE_PATH"], full))
        return started[-1]

    yield start
    for instance in started:
        instance.process.kill()
        instance.close()


@pytest.fixture
def instance(serve: Callable[..., Instance]) -> Instance:
    """One that is ready."""
    instance = serve()
    instance.wait_until_ready()
    return instance
