"""What the scripts of set-up share: the places, the lock, and running other programs.

Standard library only: it is used before anything is installed.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from _npm import NotInstalled

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
# What set-up itself needs, apart from the environment, which may be somebody's own.
OWN = ROOT / ".setup"
LOCK = OWN / "lock"

RUNTIME = "requirements.txt"
DEVELOPMENT = "requirements-dev.txt"

# Where nothing answers, neither uv nor pip may wait for minutes. pip waits for each of PyPI's
# addresses in turn.
IMPATIENT = {"UV_HTTP_TIMEOUT": "5", "UV_HTTP_RETRIES": "0"}
IMPATIENT |= {"PIP_DEFAULT_TIMEOUT": "5", "PIP_RETRIES": "0"}

# Variables of the caller that would change which Python or which packages are used.
DROPPED = re.compile(
    "PYTHON(PATH|HOME|SAFEPATH|PLATLIBDIR|EXECUTABLE|USERBASE|INSPECT|OPTIMIZE)"
    "|VIRTUAL_ENV|__PYVENV_LAUNCHER__"
    "|(PIP|UV)_(TARGET|PREFIX|ROOT|USER|PYTHON|DRY_RUN|SYSTEM_PYTHON|BREAK_SYSTEM_PACKAGES)"
)


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


@contextlib.contextmanager
def alone() -> Iterator[int]:
    """Hold the lock of set-up; the descriptor is passed on to what is run under it."""
    OWN.mkdir(exist_ok=True)
    descriptor = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Another command is setting up {VENV}; waiting for it …")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def working(name: str) -> str | None:
    """A program on PATH, when it runs; a version manager's stand-in may not."""
    program = shutil.which(name)
    if program is None:
        return None
    try:
        trial = subprocess.run([program, "--version"], capture_output=True, env=environment())
    except OSError:
        return None
    return program if trial.returncode == 0 else None


def pinned(package: str) -> str:
    """The lines of the lock file that pin a package, with its hashes.

    Raises:
        LookupError: it is not among what the tests use.
    """
    found = re.search(
        rf"^{re.escape(package)}==(.*\\\n)+.*", (ROOT / DEVELOPMENT).read_text(), re.MULTILINE
    )
    if not found:
        raise LookupError(f"{DEVELOPMENT} names no {package}")
    return found[0]


def install_from_pypi(packages: Sequence[str], folder: Path, lock_file: int) -> bool:
    """Have packages, as the lock file pins them, in a folder of their own, with uv or with pip.

    False: none of those that there are can install them, and why is on stderr.
    """
    pins = "\n".join(map(pinned, packages))
    installed = folder / "requirements.txt"  # has its name only after they were installed
    if installed.is_file() and installed.read_text() == pins:
        return True
    say(f"Installing {packages[0]} from PyPI into {folder} …")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    wanted = folder / "wanted.txt"
    wanted.write_text(pins)
    pythons = [PYTHON, Path(sys.executable)] if PYTHON.exists() else [Path(sys.executable)]
    uvs = filter(None, map(working, ("uv", str(OWN / "uv" / "bin" / "uv"))))
    commands = [install_command(uv, pythons[0]) for uv in uvs]
    commands += [install_command(None, python) for python in pythons]
    options = ["--no-deps", "--target", folder, "-r", wanted]
    for command in commands:
        if run(*command, *options, lock_file=lock_file, variables=IMPATIENT) == 0:
            wanted.rename(installed)
            return True
    return False


def make_folder(
    what: str, folder: Path, stamp: Callable[[], str], make: Callable[[Path, int], None]
) -> bool:
    """Have a folder, unless it is there and was made from the same.

    Args:
        what: begins the sentence that says why it failed.
        stamp: returns what it is made from; kept in it.
        make: fills the new folder; gets the lock file, too. May raise NotInstalled.

    False: it failed, and why is on stderr.
    """

    def is_current() -> bool:
        path = folder / "stamp"
        return path.is_file() and path.read_text() == stamp()

    try:
        if not is_current():
            with alone() as lock_file:
                if not is_current():  # else another command did it meanwhile
                    began = time.monotonic()
                    with replacing(folder) as new:
                        make(new, lock_file)
                        (new / "stamp").write_text(stamp())
                    say(f"Done in {time.monotonic() - began:.0f} s.")
    except NotInstalled as error:
        say(f"{what} cannot be installed: {error}.")
    except OSError as error:
        say(f"{what} cannot be written to {folder} ({error}).")
    else:
        return True
    return False


@contextlib.contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Make a folder beside its place, then move it there: a server never sees half of it."""
    new, old = (folder.with_name(f"{folder.name}.{word}") for word in ("new", "old"))

    def clear() -> None:
        for each in (new, old):
            shutil.rmtree(each, ignore_errors=True)

    clear()
    new.mkdir(parents=True)
    try:
        yield new
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        clear()


def install_command(uv: str | None, python: Path) -> list[str]:
    """The beginning of a command that installs Python packages, with this uv or with pip."""
    if uv:
        command = [uv, "pip", "install", "--python", str(python)]
    else:
        options = ["--disable-pip-version-check", "--no-input", "--no-warn-script-location"]
        command = [str(python), "-m", "pip", "install", *options]
    return [*command, *([] if sys.stderr.isatty() else ["--quiet"]), "--require-hashes"]


def environment() -> dict[str, str]:
    """The caller's, without what would mislead; uv trusts the certificates that the system does."""
    kept = {name: text for name, text in os.environ.items() if not DROPPED.fullmatch(name)}
    return {"UV_SYSTEM_CERTS": "true", "UV_NATIVE_TLS": "true"} | kept


def run(
    *command: object,
    cwd: Path | None = None,
    lock_file: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> int:
    """Run a command, with more variables if told, and return its exit code.

    What set-up prints goes to stderr: the output of bin/canopy may be read by a program. The lock
    file goes with it: when this process is killed, a pip that still runs keeps the lock.
    """
    setting_up = lock_file is not None
    completed = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment() | dict(variables or {}),
        stdout=sys.stderr if setting_up else None,
        pass_fds=[lock_file] if lock_file is not None else [],
    )
    return completed.returncode
