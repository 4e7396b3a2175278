"""Requests to other servers: the resources that they may use."""

from __future__ import annotations

from typing import Final

HEAD_BYTES: Final = 64 * 1024  # status line and headers, interim responses included
BODY_SECONDS: Final = 0.25  # after the status; after it, the connection is closed

LOOKUPS: Final = 256  # concurrent DNS lookups, more than can hang; each occupies a thread
CONNECT_SHARE: Final = 0.25  # seconds for each of several addresses, at least

POOL_CONNECTIONS: Final = 256  # idle ones, over all hosts
POOL_IDLE: Final = 30.0  # seconds; firewalls drop connections that are idle for longer
POOL_LIFE: Final = 300.0  # seconds after which the name is resolved again
