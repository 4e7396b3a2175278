"""Connecting to addresses that were checked."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from app.outbound.addresses import Address
from app.outbound.attempt import Attempt, EgressError
from app.policy.deliveries import FailureReason
from app.policy.egress import CONNECT_SHARE

# If addresses fail in different ways, the first of these is reported.
_PRECEDENCE: Final = (FailureReason.SLOW_CONNECT, FailureReason.REFUSED, FailureReason.UNREACHABLE)
_DISCARD: Final = 9  # any port, as nothing is sent
_FAMILIES: Final = {4: socket.AF_INET, 6: socket.AF_INET6}
_UNASSIGNED: Final[dict[int, Address]] = {  # addresses for documentation
    4: IPv4Address("192.0.2.1"),
    6: IPv6Address("2001:db8::1"),
}


def is_own(address: Address) -> bool:
    """True if an address is this machine's. Sends nothing.

    Does not recognize an address that a router translates to this machine, nor, with
    ip_nonlocal_bind, further addresses of the same subnet.
    """
    if _source_address(address) == address:
        return True
    return _can_bind(address) and not _can_bind(_UNASSIGNED[address.version])


def connect_to_any(addresses: Sequence[Address], port: int, attempt: Attempt) -> socket.socket:
    """Connect to the first address that accepts, each within its share of the time left.

    Raises:
        EgressError: none did.
    """
    reasons = {FailureReason.UNREACHABLE}
    for number, address in enumerate(addresses):
        try:
            left = attempt.connect_deadline.left()
            share = min(left, max(left / (len(addresses) - number), CONNECT_SHARE))
            return _connect_to(address, port, share)
        except TimeoutError:
            reasons.add(FailureReason.SLOW_CONNECT)
        except ConnectionRefusedError:
            reasons.add(FailureReason.REFUSED)
        except OSError:
            continue
    raise EgressError(min(reasons, key=_PRECEDENCE.index))


def _connect_to(address: Address, port: int, seconds: float) -> socket.socket:
    connection = socket.socket(_FAMILIES[address.version], socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect((str(address), port))
        if not address.is_unspecified and ip_address(connection.getpeername()[0]) != address:
            raise OSError("connected to another address")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def _source_address(address: Address) -> Address | None:
    """Return the source address of datagrams to an address; None if it is unreachable."""
    with socket.socket(_FAMILIES[address.version], socket.SOCK_DGRAM) as datagrams:
        try:
            datagrams.connect((str(address), _DISCARD))
        except OSError:
            return None
        return ip_address(datagrams.getsockname()[0])


def _can_bind(address: Address) -> bool:
    with socket.socket(_FAMILIES[address.version], socket.SOCK_DGRAM) as datagrams:
        try:
            datagrams.bind((str(address), 0))
        except OSError:
            return False
        return True
