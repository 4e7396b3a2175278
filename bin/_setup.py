"""Sets up what a command needs, then runs it. Standard library only."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent))  # -I leaves it out

import _third_party
from _environment import DEVELOPMENT, PYTHON, ROOT, RUNTIME, SetupError, prepare, say, uv

HELP = {
    "serve": """\
usage: bin/serve [--empty] [--small]

Sets up what is missing, brings the database up to date and runs the web server and the worker,
with a Valkey of its own unless REDIS_URL names one. Prints the next steps once the service
responds. Ctrl-C or SIGTERM stops everything; a second one does so at once.

  --empty   do not create a demo account in an empty database
  --small   as SMALL=true: take little memory

HOST, PORT, INSTANCE_PATH and the other settings are read from the environment; docs/settings.md
lists them. Output goes to the folder logs in the instance folder and, if there is one, to the
terminal.
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


def main(arguments: list[str]) -> int:
    """Run a command: (name, its arguments). Returns 2 if set-up fails."""
    name, *rest = arguments
    if name in HELP and {"-h", "--help"} & set(rest):
        print(HELP[name], end="")
        return 0
    try:
        return COMMANDS[name](rest)
    except SetupError as error:
        say(f"{error}.")
        return 2
    except KeyboardInterrupt:
        return 130


def serve(arguments: list[str]) -> int:
    variables = prepare(RUNTIME)
    _third_party.main()  # without its files, everything but the maps works
    # -P: a module named app or config in the caller's folder is not ours. The root of the
    # repository is on the path by a .pth file.
    become(variables, "-P", "-m", "app.serve", *arguments)


def canopy(arguments: list[str]) -> int:
    become(prepare(RUNTIME), "-P", "-m", "app.cli", *arguments)


def test(arguments: list[str]) -> int:
    os.chdir(ROOT)
    if {"-h", "--help"} & set(arguments):  # it needs no packages
        os.execv(sys.executable, [sys.executable, "-m", "tests", "--help"])
    variables = prepare(DEVELOPMENT)
    # The tests start many processes, each of which would compile the application again.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    if _third_party.main() and variables.get("CI") == "true":
        raise SetupError("No test may be skipped here (CI=true); what is missing is above")
    become(variables, "-m", "tests", *arguments)


def trials(arguments: list[str]) -> int:
    os.chdir(ROOT)
    variables = prepare(DEVELOPMENT)
    if {"-h", "--help", "--list"} & set(arguments):
        become(variables, "-m", "trials", *arguments)
    _third_party.main()
    become(variables, "-m", "tests.node", "trials", *arguments)


def check(_: list[str]) -> int:
    variables = prepare(DEVELOPMENT)
    variables["PATH"] = os.pathsep.join([str(PYTHON.parent), variables.get("PATH", os.defpath)])
    return subprocess.call([ROOT / ".ci" / "check"], cwd=ROOT, env=variables)


def lock(arguments: list[str]) -> int:
    os.chdir(ROOT)
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--quiet"]
    options += ["--custom-compile-command", "bin/lock", *arguments]
    # The second file has the versions of the first, so that the tests use them.
    constraint = ["--constraint", RUNTIME]
    for extra, target in (([], RUNTIME), (constraint, DEVELOPMENT)):
        source = target.replace(".txt", ".in")
        if not uv("pip", "compile", source, "--output-file", target, *extra, *options):
            say(f"{target} could not be compiled; the reason is above.")
            return 1
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    command.__name__: command for command in (serve, canopy, test, trials, check, lock)
}


def become(variables: dict[str, str], *arguments: str) -> NoReturn:
    """Replace this process by the environment's Python, so that signals reach it directly."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(PYTHON, [str(PYTHON), *arguments], variables)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
