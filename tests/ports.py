"""Ports for servers that have to be told theirs."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
from typing import Final

# Below those that the kernel gives to connections, and to whoever listens on port 0: one of these
# that is free stays so until its server starts, and nothing listens there if none does.
_RANGE: Final = range(20_000, 32_000)
_claims: list[socket.socket] = []
_numbers = itertools.count(os.getpid() * 97)


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens, and which no other test process is given as
    long as this one lives."""
    for number in itertools.islice(_numbers, len(_RANGE)):
        port = _RANGE[number % len(_RANGE)]
        if _claim(port) and _is_free(port):
            return port
    raise AssertionError("no port is free")


def _claim(port: int) -> bool:
    """Names of abstract sockets are the machine's (or container's) own, as ports are, and gone
    with the process."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0canopy-test-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False
