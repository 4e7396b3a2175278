"""The environment of pygeoapi, beside that of Canopy: made when it is first needed, from wheels."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

REQUIREMENTS: Final = Path(__file__).parent / "requirements.txt"
FOLDER: Final = Path(sys.prefix).resolve() / "pygeoapi"
_STAMP: Final = "installed"  # a file with the hash of the requirements
_SECONDS: Final = 150  # what is there by then is kept by uv, for another attempt
_CERTIFICATES: Final = {"UV_SYSTEM_CERTS": "true", "UV_NATIVE_TLS": "true"}  # as bin/_setup.py


class NotInstalled(Exception):
    """pygeoapi cannot be had. The message is one line."""


def python(folder: Path = FOLDER, requirements: Path = REQUIREMENTS) -> Path:
    """A Python that has pygeoapi, and nothing of Canopy's.

    Raises:
        NotInstalled: its packages cannot be had.
    """
    found = folder / "bin" / "python"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs may begin at once
        if not is_installed(folder, requirements):
            _uv("venv", "--clear", "--python", sys.executable, str(folder))
            print(f"Installing pygeoapi into {folder} …", file=sys.stderr)
            options = ("--python", str(found), "--only-binary", ":all:", "--require-hashes")
            _uv("pip", "install", *options, "-r", str(requirements))
            (folder / _STAMP).write_text(_hash(requirements))
    return found


def is_installed(folder: Path = FOLDER, requirements: Path = REQUIREMENTS) -> bool:
    """Whether these very versions are there, and nothing has to be installed."""
    stamp = folder / _STAMP
    has_stamp = stamp.is_file() and stamp.read_text() == _hash(requirements)
    return has_stamp and (folder / "bin" / "python").exists()


def _hash(requirements: Path) -> str:
    return hashlib.sha256(requirements.read_bytes()).hexdigest()


def _uv(*arguments: str) -> None:
    command = [sys.executable, "-m", "uv", "--quiet", *arguments]
    environ = _CERTIFICATES | os.environ
    try:
        done = subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"pygeoapi cannot be installed within {_SECONDS} s.") from None
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"uv ended with {done.returncode}"
        raise NotInstalled(f"pygeoapi cannot be installed: {reason}")
