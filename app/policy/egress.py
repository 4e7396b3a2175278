"""Requests to other servers: the resources that they may use."""

from __future__ import annotations

from typing import Final

HEAD_BYTES: Final = 64 * 1024  # of a response before its body, with interim responses
TLS_BYTES: Final = 256 * 1024  # received in a handshake, and beside what a response may have
BODY_SECONDS: Final = 0.25  # after the status; after it, the connection is closed

LOOKUPS: Final = 64  # concurrent DNS lookups; each occupies a thread
LOOKUPS_OF_HUNG: Final = LOOKUPS // 2  # of these, for names that hung recently
LOOKUP_HANGS: Final = 2.0  # seconds after which a lookup counts as hung
HUNG_FOR: Final = 120.0  # seconds for which its name counts as hung
CONNECT_SHARE: Final = 0.25  # seconds for each of several addresses, at least

POOL_CONNECTIONS: Final = 256  # idle ones, over all hosts
POOL_PER_HOST: Final = 64
POOL_IDLE: Final = 30.0  # seconds; firewalls drop connections that are idle for longer
POOL_LIFE: Final = 300.0  # seconds after which the name is resolved again
