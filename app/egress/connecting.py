"""Connections to addresses that were judged."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from app.egress.addresses import Address
from app.egress.attempt import Attempt, EgressError
from app.policy.deliveries import FailureReason
from app.policy.egress import CONNECT_SHARE

# Of several addresses that failed in different ways, the first of these is told.
_TOLD_FIRST: Final = (FailureReason.SLOW_CONNECT, FailureReason.REFUSED, FailureReason.UNREACHABLE)
_DISCARD: Final = 9  # a port that a datagram would go to, of which none is sent
_FAMILIES: Final = {4: socket.AF_INET, 6: socket.AF_INET6}
_OF_NOBODY: Final[dict[int, Address]] = {  # for documentation
    4: IPv4Address("192.0.2.1"),
    6: IPv6Address("2001:db8::1"),
}


def is_own(address: Address) -> bool:
    """Whether an address is this machine's. Nothing is sent to find out.

    What leads here by the translation of a router outside is not seen. Where any address may be
    bound (ip_nonlocal_bind), further addresses of the same subnet are not seen either.
    """
    if _source(address) == address:
        return True
    return _can_bind(address) and not _can_bind(_OF_NOBODY[address.version])


def connect(addresses: Sequence[Address], port: int, attempt: Attempt) -> socket.socket:
    """A connection to the first address that takes one, each for its share of the time left.

    Raises:
        Failed: none did.
    """
    troubles = {FailureReason.UNREACHABLE}
    for tried, address in enumerate(addresses):
        left = attempt.left()
        share = min(left, max(left / (len(addresses) - tried), CONNECT_SHARE))
        try:
            return _connect_to(address, port, share)
        except TimeoutError:
            troubles.add(FailureReason.SLOW_CONNECT)
        except ConnectionRefusedError:
            troubles.add(FailureReason.REFUSED)
        except OSError:
            continue
    raise EgressError(min(troubles, key=_TOLD_FIRST.index))


def _connect_to(address: Address, port: int, seconds: float) -> socket.socket:
    if seconds <= 0:
        raise TimeoutError
    connection = socket.socket(_FAMILIES[address.version], socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect((str(address), port))
        if ip_address(connection.getpeername()[0]) != address:
            raise OSError("another address answered")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def _source(address: Address) -> Address | None:
    """Where a datagram to an address would come from; None without a way there."""
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
