"""The IP addresses that may be called.

The tables are explicit: ``is_private`` and ``is_global`` of ``ipaddress`` change with the version
of Python, and miss several kinds of addresses that embed another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# All of IPv4 is public except for these (RFC 6890 and the IANA registry of special purposes).
NOT_PUBLIC_IPV4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
# Only this part of IPv6 is public, except for the networks below. So mapped IPv4, NAT64, unique
# local, link-local, multicast and future networks stay closed.
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_IPV6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)
# Where clouds serve the metadata and credentials of a machine. No setting opens these.
_METADATA: Final = tuple(
    ip_network(network)
    for network in (
        "169.254.0.0/16",  # nearly all of them, at .169.254 and elsewhere
        "fe80::/10",  # the same in IPv6
        "100.100.100.200",  # Alibaba Cloud
        "168.63.129.16",  # Azure
        "192.0.0.192",  # Oracle Cloud
        "fd00:c1::a9fe:a9fe",  # Oracle Cloud
        "fd00:ec2::/32",  # AWS
        "fd20:ce::254",  # Google Cloud
        "fd00:42::42",  # Scaleway
    )
)

_COMPATIBLE: Final = IPv6Network("::/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def is_allowed(address: Address, allowed_networks: Sequence[Network] = ()) -> bool:
    """True if an address may be called.

    Args:
        allowed_networks: opened by the operator. An IPv4 network also opens the mapped form of its
            addresses (::ffff:10.0.0.1).
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    if any(_is_within(form, _METADATA) for form in (address, *_embedded_addresses(address))):
        return False
    if is_opened(address, allowed_networks):
        return True
    if isinstance(address, IPv4Address):
        return not _is_within(address, NOT_PUBLIC_IPV4)
    return address in _PUBLIC_IPV6 and not _is_within(address, _NOT_PUBLIC_IPV6)


def is_opened(address: Address, allowed_networks: Sequence[Network]) -> bool:
    """True if an address, or the IPv4 address that it maps, is in a network that the operator has
    opened."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(_is_within(form, allowed_networks) for form in (address, mapped) if form is not None)


def may_be_called(host: str, allowed_networks: Sequence[Network]) -> bool:
    """True for names, whose addresses are checked at each call, and for allowed IP addresses."""
    return not is_address(host) or is_allowed(ip_address(host), allowed_networks)


def is_address(host: str) -> bool:
    """True if a host is an IP address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def allowed_addresses(texts: Sequence[str], allowed_networks: Sequence[Network]) -> list[Address]:
    """Return the addresses of a name that may be called."""
    parsed = [ip_address(text) for text in texts if is_address(text)]
    return [address for address in parsed if is_allowed(address, allowed_networks)]


def _is_within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _embedded_addresses(address: Address) -> list[IPv4Address]:
    """Return the IPv4 addresses embedded in an IPv6 address, by any of the known schemes."""
    if isinstance(address, IPv4Address):
        return []
    number = int(address)
    last = IPv4Address(number & 0xFFFF_FFFF)
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _COMPATIBLE or address in _NAT64 or address in _LOCAL_NAT64:
        inner.append(last)
    if address in _LOCAL_NAT64:  # RFC 6052, section 2.2: around the bits 64 to 71
        joined = number >> 64 << 56 | number & (1 << 56) - 1
        inner += [IPv4Address(joined >> 88 - length & 0xFFFF_FFFF) for length in (48, 56, 64)]
    if number >> 32 & 0xFFFF_FFFF in _ISATAP:
        inner.append(last)
    return [ipv4 for ipv4 in inner if ipv4 is not None]
