"""Calls of addresses that customers gave: what they may take of this machine."""

from __future__ import annotations

from typing import Final

HEAD_BYTES: Final = 64 * 1024  # of an answer before its body, interim answers included
TLS_BYTES: Final = 256 * 1024  # of an exchange as they come, with what TLS adds; of a handshake too
BODY_SECONDS: Final = 0.25  # after the status; a body that takes longer costs its connection

LOOKUPS: Final = 64  # names that are looked up at once; each has a thread while that takes
LOOKUPS_OF_HUNG: Final = LOOKUPS // 2  # of these, for names that hung lately
LOOKUP_HANGS: Final = 2.0  # seconds after which a lookup counts as hung
HUNG_FOR: Final = 120.0  # seconds that its name counts so
CONNECT_SHARE: Final = 0.25  # seconds that each of several addresses has at least

KEPT_CONNECTIONS: Final = 256  # that wait for their next request, over all hosts
KEPT_PER_HOST: Final = 64
KEPT_IDLE: Final = 30.0  # seconds; firewalls forget connections that are silent for longer
KEPT_LIFE: Final = 300.0  # seconds after which the name is resolved anew
