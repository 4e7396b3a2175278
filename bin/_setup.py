"""Makes the Python environment in ``.venv`` when it is missing or stale, then runs a command in it.

Standard library only, as are the files beside it that it imports: it runs before anything is
installed. One environment serves running and developing, for ``requirements-dev.txt`` holds all of
``requirements.txt``. A stamp for each of the two says which content was installed; it is taken away
before anything is changed and written last, so that an environment without a stamp was left
half-made. An environment that somebody else made is used if its packages fit, and never changed.
"""

import contextlib
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent))  # which -I leaves out

import _third_party
from _tools import (
    DEVELOPMENT,
    OWN,
    PYTHON,
    ROOT,
    RUNTIME,
    VENV,
    alone,
    environment,
    install_command,
    pinned,
    run,
    say,
    working,
)

MADE_HERE = VENV / "made-by-canopy"
# Prints the packages of a lock file that an environment does not have in that version. What is
# only for other systems, or for other versions of Python, is not asked for.
LACKING = r"""
import importlib.metadata, re, sys
for name, version, marker in re.findall(
    r"^([\w.-]+)(?:\[.*?\])?==([^\s;]+)( ;)?", open(sys.argv[1]).read(), re.MULTILINE
):
    try:
        if importlib.metadata.version(name) != version:
            print(name)
    except importlib.metadata.PackageNotFoundError:
        if not marker:
            print(name)
"""

DEPTRY = ("deptry", "--config", "deptry.toml")
# What makes deptry look at the service alone: it imports nothing that only the tests have.
SERVICE_ALONE = ("--requirements-files", RUNTIME.replace(".txt", ".in"))
SERVICE_ALONE += ("--requirements-files-dev", DEVELOPMENT.replace(".txt", ".in"))
OTHERS = r"\.venv|\.setup|instance|tests|trials|bench|docs|bin"
SERVICE_ALONE += ("--exclude", OTHERS, "--ignore", "DEP002")

MORE_VARIABLES: dict[str, str] = {}  # of what runs in the environment

HELP = {
    "serve": """\
usage: bin/serve [--empty]

Sets up what is missing, brings the database up to date and runs the web server and the worker,
with a Valkey of its own unless REDIS_URL names one. Prints the next steps once the service
responds. Ctrl-C or SIGTERM stops everything; a second one does so at once.

  --empty   do not create a demo account in an empty database

HOST, PORT, INSTANCE_PATH and the other settings are read from the environment; docs/settings.md
lists them. Output goes to the folder logs in the instance folder and, if there is one, to the
terminal.
""",
    "test": """\
usage: bin/test [--slow] [arguments of pytest]

Sets up what is missing, then runs the tests. There are three tiers:

  bin/test          every promise of the service, quickly: on SQLite, and on PostgreSQL what is
                    marked both. Some 5 minutes on two cores
  bin/test --slow   those marked slow as well, which take more than a third of a second of
                    processor time each. Some 11 minutes; .ci/run is this and bin/check, and a
                    change must pass it
  bin/trials        those marked trial, faults, several hosts, benchmarks; see bin/trials --list

Files or tests that you name run one after another in one process, everything else in parallel:

  bin/test tests/assets/test_list.py::test_pages -x --pdb
  bin/test tests/projects -k archive

  --seed N              the order of the tests and all random values come from this number, by
                        default from the commit, so that a run can be repeated
  --database DATABASE   run all on sqlite, or all on postgresql

With CI=true, a test that cannot run here is an error instead of being skipped, for example if
npm's registry cannot be reached. The arguments of pytest: .venv/bin/python -m pytest --help
""",
    "check": """\
usage: bin/check

Checks format and lint (ruff), types (mypy), that each package that is imported is declared
(deptry), that imports go down and in no circle (import-linter), the commands in bin (shellcheck),
the Dockerfile (hadolint), and the files for Compose and GitHub (check-jsonschema).
""",
    "lock": """\
usage: bin/lock [arguments of uv pip compile, such as --upgrade]

Compiles requirements.in and requirements-dev.in into the lock files, with hashes.
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
    os.chdir(ROOT)
    # The tests start many processes; each would compile the application anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with compiling():
        if _third_party.main() and os.environ.get("CI") == "true":
            raise SetupError("No test may be skipped here (CI=true); what is missing is above.")
        missing = what_npm_lacks()
    if missing:
        if os.environ.get("CI") == "true":
            raise SetupError(f"No test may be skipped here (CI=true), but {missing}.")
        say(f"The tests that need it are skipped: {missing}.")
        os.environ["CANOPY_TEST_MISSING"] = missing
    become("-m", "pytest", *parallel(arguments), *arguments)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Compile the tests beside npm's first installation, which leaves a processor idle, or each
    worker of pytest would."""
    if (VENV / "node").exists():
        yield
        return
    command = [str(PYTHON), "-m", "pytest", "--collect-only", "--quiet"]
    variables, quiet = environment() | MORE_VARIABLES, subprocess.DEVNULL
    with subprocess.Popen(command, env=variables, stdout=quiet, stderr=quiet) as compiler:
        try:
            yield
        except BaseException:
            compiler.kill()
            raise


def parallel(arguments: list[str]) -> list[str]:
    """How pytest is to distribute tests: not at all if a file is named, which is soon done."""
    if any(".py" in argument for argument in arguments):
        return []
    # More at once than there are processors, as many of them wait for other processes.
    number = str((os.cpu_count() or 2) * 3 // 2)
    return ["-n", number, "--dist", "loadgroup", "--no-loadscope-reorder"]


def trials(arguments: list[str]) -> int:
    prepare(DEVELOPMENT)
    if not {"-h", "--help", "--list"} & set(arguments):
        _third_party.main()
        if missing := what_npm_lacks():
            say(f"Trials that need it are skipped: {missing}.")
            os.environ["CANOPY_TEST_MISSING"] = missing
    os.chdir(ROOT)
    become("-m", "trials", *arguments)


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
    files = [path for path in ROOT.glob("bin/*") if path.is_file()]
    scripts = sorted(str(path) for path in files if path.suffix in ("", ".sh"))
    compose = ("compose.yaml", "deploy/hosts/compose.yaml")
    workflows = sorted(map(str, ROOT.glob(".github/workflows/*.yml")))
    steps = (
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "."],
        ["mypy"],
        [*DEPTRY, "."],
        [*DEPTRY, *SERVICE_ALONE, "."],
        ["lint-imports", "--no-cache", "--no-logo"],
        ["shellcheck", "--external-sources", "--source-path=SCRIPTDIR", ".ci/run", *scripts],
        ["hadolint", "Dockerfile"],
        ["check-jsonschema", "--quiet", "--builtin-schema=vendor.compose-spec", *compose],
        ["check-jsonschema", "--quiet", "--builtin-schema=vendor.github-workflows", *workflows],
    )
    failed = [" ".join(step) for step in steps if run(VENV / "bin" / step[0], *step[1:], cwd=ROOT)]
    if failed:
        say(f"Failed: {', '.join(failed)}.")
    return 1 if failed else 0


def lock(arguments: list[str]) -> int:
    prepare(DEVELOPMENT)
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--quiet"]
    options += ["--custom-compile-command", "bin/lock", *arguments]
    # The second is held to the versions of the first: what is tested is what runs.
    held = ["--constraint", RUNTIME]
    for extra, target in (([], RUNTIME), (held, DEVELOPMENT)):
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
    "trials": trials,
    "check": check,
    "lock": lock,
}


def prepare(requirements: str) -> None:
    """Make sure that ``.venv`` holds what ``requirements`` names; quick when it does."""
    try:
        if is_somebodys():
            use_somebodys(requirements)
        elif not is_current(requirements):
            with alone() as lock_file:
                if not is_current(requirements):  # else another command did it meanwhile
                    install(requirements, lock_file)
    except OSError as error:
        raise SetupError(
            f"The environment {VENV} cannot be created ({error}); "
            "its folder must be writable on the first run and after an update."
        ) from None


def is_somebodys() -> bool:
    """Whether ``.venv`` is there and was not made here, nor by a former version of this script."""
    ours = (MADE_HERE, VENV / "setup.lock", stamp_path(RUNTIME), stamp_path(DEVELOPMENT))
    return VENV.is_dir() and any(VENV.iterdir()) and not any(path.exists() for path in ours)


def use_somebodys(requirements: str) -> None:
    """Leave it as it is.

    Raises:
        SetupError: it has other packages.
    """
    lacking = [str(PYTHON), "-I", "-c", LACKING, str(ROOT / requirements)]
    done = subprocess.run(lacking, env=environment(), text=True, capture_output=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        found = f"its Python does not run ({last})"
    else:
        names = done.stdout.split()
        found = f"it lacks {', '.join(names[:3])}" + f" and {len(names) - 3} more" * (
            len(names) > 3
        )
    if done.returncode or names:
        raise SetupError(
            f"{VENV} was not made by Canopy, which leaves it alone, and {found}: run "
            f"{PYTHON} -m pip install -r {requirements}, or move the folder away."
        )
    MORE_VARIABLES["PYTHONPATH"] = str(ROOT)  # ours has a file for this


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
    """Install with uv: the machine's or, where there is none or it fails, that of the lock file."""
    began = time.monotonic()
    if not is_complete():
        make_anew(lock_file)
    for name in (RUNTIME, DEVELOPMENT):
        stamp_path(name).unlink(missing_ok=True)
    say(f"Installing the packages of {requirements} into {VENV} …")
    uv = working("uv")
    if not uv or install_with(uv, requirements, lock_file):
        if uv:
            say(f"{uv} could not install them; the reason is above. Trying the uv of PyPI.")
        if install_with(own_uv(lock_file), requirements, lock_file):
            raise SetupError(f"{requirements} could not be installed; the reason is above.")
    put_root_on_path()
    done = (RUNTIME, DEVELOPMENT) if requirements == DEVELOPMENT else (RUNTIME,)
    for name in done:
        stamp_path(name).write_text(stamp(name))
    say(f"Done in {time.monotonic() - began:.0f} s.")


def install_with(uv: str, requirements: str, lock_file: int) -> int:
    """The exit code of this uv."""
    return run(*install_command(uv, PYTHON), "-r", ROOT / requirements, lock_file=lock_file)


def own_uv(lock_file: int) -> str:
    """The uv with the version and the hashes that the lock file has, installed by pip.

    Raises:
        SetupError: there is no pip, or it cannot install uv.
    """
    program = OWN / "uv" / "bin" / "uv"
    lines, installed = pinned("uv"), OWN / "uv" / "requirements.txt"
    if not (installed.is_file() and installed.read_text() == lines and working(str(program))):
        shutil.rmtree(OWN / "uv", ignore_errors=True)
        (OWN / "uv").mkdir()
        wanted = OWN / "uv" / "wanted.txt"
        wanted.write_text(lines)
        if importlib.util.find_spec("ensurepip") is None:
            raise SetupError(
                f"{sys.executable} has no pip: install python3-venv (Debian, Ubuntu), or uv."
            )
        # Beside its own Python, so that it is there whatever becomes of .venv.
        pip = (sys.executable, "-I", "-m", "venv", OWN / "uv" / "pip")
        to_install = install_command(None, OWN / "uv" / "pip" / "bin" / "python")
        options = ("--no-deps", "--target", OWN / "uv", "-r", wanted)
        if run(*pip, lock_file=lock_file) or run(*to_install, *options, lock_file=lock_file):
            raise SetupError("uv could not be installed; the reason is above.")
        shutil.rmtree(OWN / "uv" / "pip")
        wanted.rename(installed)
    return str(program)


def is_complete() -> bool:
    """Whether some set-up ran to its end here, with a Python that is still the same."""
    interpreter = stamp(RUNTIME).split(" ", 1)[1]
    stamps = [stamp_path(name) for name in (RUNTIME, DEVELOPMENT)]
    return any(path.is_file() and path.read_text().endswith(interpreter) for path in stamps)


def make_anew(lock_file: int) -> None:
    """Make the environment, in place of one that was left half-made."""
    if VENV.is_dir():
        shutil.rmtree(VENV)
    VENV.mkdir()
    MADE_HERE.touch()
    say(f"Creating {VENV} with Python {platform.python_version()} …")
    command = (sys.executable, "-I", "-m", "venv", "--without-pip", VENV)
    if run(*command, lock_file=lock_file):
        raise SetupError(f"{VENV} could not be created; the reason is above.")


def put_root_on_path() -> None:
    """Let this environment import the application from any folder, and after a move of both."""
    for folder in VENV.glob("lib/python*/site-packages"):
        (folder / "canopy.pth").write_text(os.path.relpath(ROOT, folder) + "\n")


def become(*arguments: str) -> NoReturn:
    """Turn into the environment's Python: same process, so that signals reach it directly."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(PYTHON, [str(PYTHON), *arguments], environment() | MORE_VARIABLES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
