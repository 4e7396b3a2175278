"""Makes the Python environment in ``.venv`` when it is missing or stale, then runs a command in it.

Standard library only, as are the files beside it that it imports: it runs before anything is
installed. One environment serves running and developing, for ``requirements-dev.txt`` holds all of
``requirements.txt``. A stamp for each of the two says which content was installed; it is taken away
before anything is changed and written last, so that an environment without a stamp was left
half-made.
"""

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent))  # which -I leaves out

import _third_party
from _tools import (
    DEVELOPMENT,
    LOCK,
    PYTHON,
    ROOT,
    RUNTIME,
    VENV,
    alone,
    environment,
    install_command,
    run,
    say,
    working,
)

PYGEOAPI = "bench/pygeoapi/requirements.txt"  # bench/pygeoapi/environment.py installs it elsewhere

HELP = {
    "serve": """\
usage: bin/serve [--empty]

Sets up what is missing, brings the database up to date and runs the web server and the worker,
with a Valkey of its own unless REDIS_URL names one. Prints the next steps once the service
responds. Ctrl-C or SIGTERM stops everything; a second one does so at once.

  --empty   do not create a demo account in an empty database

HOST, PORT, INSTANCE_PATH and the other settings are read from the environment; docs/operations.md
lists them. Output goes to the folder logs in the instance folder and, if there is one, to the
terminal.
""",
    "test": """\
usage: bin/test [--slow] [arguments of pytest]

Sets up what is missing, then runs the tests in parallel and in random order. Without arguments,
each test runs on one of the two databases, chosen by its name; with any, on both.

  --slow        run all tests, those marked slow as well, as .ci/run does
  -m slow       run only those
  tests/x -k y  run some

With CI=true, a test that cannot run here is an error instead of being skipped, for example if
npm's registry cannot be reached. The arguments of pytest: .venv/bin/python -m pytest --help
""",
    "check": "usage: bin/check\n\nChecks formatting and lint (ruff) and types (mypy).\n",
    "lock": """\
usage: bin/lock [arguments of uv pip compile, such as --upgrade]

Compiles requirements.in, requirements-dev.in and bench/pygeoapi/requirements.in into the lock
files, with hashes.
""",
}


class SetupError(Exception):
    """The environment cannot be made. The message is one sentence for the person who started it."""


def main(arguments: list[str]) -> int:
    """Run the command named first with the rest as its arguments; 2 means that set-up failed."""
    name, *rest = arguments
    if name in HELP and {"-h", "--help"} & set(rest):
        print(HELP[name], end="")
        return 0
    try:
        return COMMANDS[name](rest)
    except SetupError as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        return 130


def serve(arguments: list[str]) -> int:
    prepare(RUNTIME)
    _third_party.main()  # without its files, all but the maps works
    # -P: a module named app or config in the caller's folder is not ours. The root of the
    # repository is on the path by a .pth file.
    become("-P", "-m", "app.serve", *arguments)


def canopy(arguments: list[str]) -> int:
    prepare(RUNTIME)
    become("-P", "-m", "app.cli", *arguments)


def test(arguments: list[str]) -> int:
    prepare(DEVELOPMENT)
    if _third_party.main() and os.environ.get("CI") == "true":
        raise SetupError("No test may be skipped here (CI=true); what is missing is above.")
    os.chdir(ROOT)
    # The tests start many processes; each would compile the application anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if missing := what_npm_lacks():
        if os.environ.get("CI") == "true":
            raise SetupError(f"No test may be skipped here (CI=true), but {missing}.")
        say(f"The tests that need it are skipped: {missing}.")
        os.environ["CANOPY_TEST_MISSING"] = missing
    if not arguments:
        arguments = ["--one-database"]
    # More at once than there are processors, as many of them wait for other processes.
    become("-m", "pytest", "-n", str((os.cpu_count() or 2) * 3 // 2), *arguments)


def what_npm_lacks() -> str:
    """What the tests take from npm, a browser among it, is installed; else why it cannot be."""
    command = [str(PYTHON), "-m", "tests.node"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), text=True, stdout=subprocess.PIPE)
    if done.returncode and not done.stdout:
        raise SetupError("tests.node failed; the reason is above.")
    return done.stdout.strip() if done.returncode else ""


def check(_: list[str]) -> int:
    """Run every check, also after one failed; a person wants to know all of it at once."""
    prepare(DEVELOPMENT)
    steps = (["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"])
    failed = [" ".join(step) for step in steps if run(PYTHON, "-m", *step, cwd=ROOT)]
    if failed:
        say(f"Failed: {', '.join(failed)}.")
    return 1 if failed else 0


def lock(arguments: list[str]) -> int:
    prepare(DEVELOPMENT)
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--quiet"]
    options += ["--custom-compile-command", "bin/lock", *arguments]
    # The others are held to the versions of the first: what is tested and measured is what runs.
    held = ["--constraint", RUNTIME]
    for extra, target in (([], RUNTIME), (held, DEVELOPMENT), (held, PYGEOAPI)):
        source = target.replace(".txt", ".in")
        command = ["-m", "uv", "pip", "compile", source, "--output-file", target]
        if run(PYTHON, *command, *extra, *options, cwd=ROOT):
            say(f"{target} could not be compiled; the reason is above.")
            return 1
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "serve": serve,
    "canopy": canopy,
    "test": test,
    "check": check,
    "lock": lock,
}


def prepare(requirements: str) -> None:
    """Make sure that ``.venv`` holds what ``requirements`` names; quick when it does."""
    try:
        if is_current(requirements):
            return
        VENV.mkdir(exist_ok=True)
        with alone() as lock_file:
            if not is_current(requirements):  # else another command did it meanwhile
                install(requirements, lock_file)
    except OSError as error:
        raise SetupError(
            f"The environment {VENV} cannot be created ({error}); "
            "its folder must be writable on the first run and after an update."
        ) from None


def is_current(requirements: str) -> bool:
    path = stamp_path(requirements)
    return path.is_file() and path.read_text() == stamp(requirements)


def stamp_path(requirements: str) -> Path:
    return VENV / f"{requirements}.stamp"


def stamp(requirements: str) -> str:
    """What a complete environment is known by: the lock file's content and the Python behind it.

    It is the Python behind ``.venv`` and not the one that runs now: two terminals with different
    ones on PATH would otherwise take the environment away from each other, and from a service.
    """
    digest = hashlib.sha256((ROOT / requirements).read_bytes()).hexdigest()
    interpreter = os.path.realpath(PYTHON)
    return f"{digest} {interpreter if os.path.exists(interpreter) else 'missing'}\n"


def install(requirements: str, lock_file: int) -> None:
    """Install with uv where there is one; with pip where there is none or it fails."""
    began = time.monotonic()
    uv = working("uv")
    if uv and not install_with(uv, requirements, lock_file):
        say("uv could not install them; the reason is above. Trying pip instead.")
        uv = None
    if not uv and not install_with(None, requirements, lock_file):
        raise SetupError(f"{requirements} could not be installed; the reason is above.")
    put_root_on_path()
    done = (RUNTIME, DEVELOPMENT) if requirements == DEVELOPMENT else (RUNTIME,)
    for name in done:
        stamp_path(name).write_text(stamp(name))
    say(f"Done in {time.monotonic() - began:.0f} s.")


def install_with(uv: str | None, requirements: str, lock_file: int) -> bool:
    """Whether every package is installed now, with this uv or with pip."""
    if not (is_complete() and can_install(uv)):
        make_anew(uv, lock_file)
    for name in (RUNTIME, DEVELOPMENT):
        stamp_path(name).unlink(missing_ok=True)
    say(f"Installing the packages of {requirements} into {VENV} with {'uv' if uv else 'pip'} …")
    command = install_command(uv, PYTHON)
    return run(*command, "-r", ROOT / requirements, lock_file=lock_file) == 0


def is_complete() -> bool:
    """Whether some set-up ran to its end here, with a Python that is still the same."""
    interpreter = stamp(RUNTIME).split(" ", 1)[1]
    stamps = [stamp_path(name) for name in (RUNTIME, DEVELOPMENT)]
    return any(path.is_file() and path.read_text().endswith(interpreter) for path in stamps)


def can_install(uv: str | None) -> bool:
    """pip is inside only when it was made without uv, which needs none."""
    return bool(uv) or any(VENV.glob("lib/python*/site-packages/pip"))


def make_anew(uv: str | None, lock_file: int) -> None:
    for path in VENV.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != LOCK:
            path.unlink()
    if not uv and importlib.util.find_spec("ensurepip") is None:
        raise SetupError(
            f"{sys.executable} has no pip: install python3-venv (Debian, Ubuntu), or uv."
        )
    say(f"Creating {VENV} with Python {platform.python_version()} …")
    options = ["--without-pip"] if uv else []
    if run(sys.executable, "-I", "-m", "venv", *options, VENV, lock_file=lock_file):
        raise SetupError(f"{VENV} could not be created; the reason is above.")


def put_root_on_path() -> None:
    """Let this environment import the application from any folder, and after a move of both."""
    for folder in VENV.glob("lib/python*/site-packages"):
        (folder / "canopy.pth").write_text(os.path.relpath(ROOT, folder) + "\n")


def become(*arguments: str) -> NoReturn:
    """Turn into the environment's Python: same process, so that signals reach it directly."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(PYTHON, [str(PYTHON), *arguments], environment())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
