"""Programs of Debian, for tests on a machine where they are not installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.captured import captured
from tests.deploy.files import tool

_SECONDS = 60  # for a download
_OPTIONS = {
    "APT::Sandbox::User": "root",  # another user cannot write to the folder
    "Acquire::Retries": "0",
    "Acquire::http::Timeout": "5",  # seconds
    "Acquire::https::Timeout": "5",
}
_APT = [word for name, value in _OPTIONS.items() for word in ("-o", f"{name}={value}")]


class Program(NamedTuple):
    """A program, and the environment that it needs."""

    path: str
    environ: Mapping[str, str]


class Missing(Exception):
    """Why a program cannot be had."""


def program(name: str, packages: Sequence[str], folder: Path) -> Program:
    """The installed program, or that of Debian's packages, unpacked in ``folder``.

    Args:
        packages: that of the program, and those of its libraries that are seldom installed.

    Raises:
        Missing: it is not installed, and this is no Debian that can download packages.
    """
    if (installed := tool(name)) is not None:
        return Program(installed, {})
    for needed in ("apt-get", "dpkg"):
        if shutil.which(needed) is None:
            raise Missing(f"{name} is not installed, and there is no {needed} to get it")
    folder.mkdir(mode=0o755)
    _run(["apt-get", *_APT, "download", *packages], folder)
    for package in folder.glob("*.deb"):
        _run(["dpkg", "-x", str(package), "."], folder)
    found = unpacked(name, folder)
    if found is None:
        raise Missing(f"Debian's packages have no {name}")
    return found


def unpacked(name: str, folder: Path) -> Program | None:
    """The program of packages that were unpacked in ``folder``."""
    for path in folder.glob(f"usr/*bin/{name}"):
        libraries = os.pathsep.join(str(found) for found in (folder / "usr/lib").glob("*-linux-*"))
        return Program(str(path), {"LD_LIBRARY_PATH": libraries})
    return None


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = captured(command, cwd=folder, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise Missing(f"{command[0]} took more than {_SECONDS} s") from None
    if done.returncode:
        raise Missing(f"{' '.join(command)}: {(done.stderr.splitlines() or ['failed'])[-1]}")
