"""Which hosts may be called, by what is written and by what a name leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address, ip_network

import pytest

from app.outbound import Egress, EgressError, client
from app.outbound.addresses import is_allowed
from app.outbound.resolving import resolve_name
from app.policy.deliveries import FailureReason

CALLED = "called"
SHUT = FailureReason.NOT_ALLOWED.value
BAD = FailureReason.BAD_URL.value
NO_PUBLIC = FailureReason.NO_PUBLIC_ADDRESS.value

# What is written as the host, by what becomes of it.
WRITTEN = {
    CALLED: """
        93.184.216.34 93.184.216.34. [2606:2800:220:1:248:1893:25c8:1946]
        [2606:2800:0220:0001:0248:1893:25C8:1946] 9.255.255.255 11.0.0.0 100.63.255.255
        100.128.0.0 172.15.255.255 172.32.0.0 223.255.255.255 [2000::1] [2001:200::1]
        [2003::1] [3ffe::1]
    """,
    NO_PUBLIC: """
        localhost LOCALHOST. ｌｏｃａｌｈｏｓｔ
    """,
    SHUT: """
        0.0.0.0 0.1.2.3 10.0.0.1 10.0.0.1. 100.64.0.1 100.100.100.200 127.0.0.1
        127.255.255.254 168.63.129.16 169.254.169.254 169.254.169.254. 169.254.170.2
        172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1
        198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
        255.255.255.255 １２７.0.0.1 ①②⑦.0.0.1 127。0。0。1 169.254.169.２５４ [::] [::1]
        [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:169.254.169.254]
        [::ffff:0:127.0.0.1] [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe]
        [64:ff9b:1::10.0.0.1] [2001::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001:db8::1]
        [2002:7f00:1::1] [2002:a9fe:a9fe::1] [3fff::1] [3fff:fff:ffff::1] [100::1] [1fff::1]
        [4000::1] [5f00::1] [fc00::1] [fd00:ec2::254] [fd20:ce::254] [fe80::1] [fec0::1]
        [ff02::1]
    """,
    BAD: """
        2130706433 017700000001 0x7f000001 0X7F.1 127.1 127.0.1 0177.0.0.1 127.0.0.01
        0x7f.0.0.0x1 127.0.0.0x 127.0.0.256 127.0.0.1.1 127.0.0.1.. 1.1.1 １２７.１ 127.0.0.%31
        127.0.0.1%00.example [fe80::1%eth0] [fe80::1%25eth0] [2606:2800::1%1]
        [::ffff:127.0.0.01] [127.0.0.1] [v1.fe80] ::1
    """,
}

# What a name leads to. Only the public addresses are called.
PUBLIC = ("93.184.216.34", "2606:2800:220:1::1")
NAMED: dict[str, Sequence[str]] = {
    "one public": PUBLIC[:1],
    "two public": PUBLIC,
    "none": [],
    "one private": ["10.0.0.1"],
    "loopback": ["::1", "127.0.0.1"],
    "the first is private": ["10.0.0.1", *PUBLIC],
    "the last is private": [*PUBLIC, "192.168.0.1"],
    "one of the other family is private": [PUBLIC[0], "fd00::1"],
    "metadata": ["169.254.169.254"],
    "mapped": ["::ffff:10.0.0.1"],
    "NAT64": ["64:ff9b::10.0.0.1"],
    "6to4": ["2002:a00:1::1"],
    "Teredo": ["2001:0:a00:1::1"],
    "with a zone": ["2606:2800::1%1"],
    "link-local with a zone": ["fe80::1%eth0"],
    "no address": ["example.com"],
    "another form of an address": ["0x7f.1"],
    "unspecified": ["0.0.0.0"],
}

# Also 168.63.129.16 behind prefixes of 48, 56 and 64 bits (RFC 6052), as a server and a client of
# Teredo, and as ISATAP writes it.
METADATA = """
    169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 169.254.169.123
    169.254.0.23 169.254.42.42 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254
    fd00:ec2::23 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 fe80::a9fe:a9fe
    ::ffff:169.254.169.254 ::ffff:168.63.129.16 ::169.254.169.254 64:ff9b::169.254.169.254
    64:ff9b:1::169.254.169.254 64:ff9b:1:a83f:81:1000:: 64:ff9b:1:a8:3f:8110::
    64:ff9b:1:0:a8:3f81:1000:0 2002:a9fe:a9fe::1 2001:0:a9fe:a9fe::1
    2001:0:5db8:d822:0:ffff:5601:5601 2606:2800::5efe:169.254.169.254
    2606:2800::200:5efe:169.254.169.254
"""
EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))


class Caller:
    """Posts to hosts, short of a connection. ``called`` has the addresses of the last one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: dict[str, Sequence[str]] = {}  # of the name server
        self.asked: list[str] = []
        self.called: list[str] = []
        self.egress = Egress(resolve=self._resolve)
        monkeypatch.setattr(client, "connect_to_any", self._connect)

    def outcome(self, host: str) -> str:
        self.called.clear()
        with pytest.raises(EgressError) as failed:
            self.egress.post(f"https://{host}/hook", b"{}", {})
        assert not any(character.isdigit() for character in str(failed.value))
        return CALLED if failed.value.reason is FailureReason.REFUSED else str(failed.value)

    def _resolve(self, host: str) -> list[str]:
        self.asked.append(host)
        if host not in self.answers:
            raise OSError("no such name")
        return list(self.answers[host])

    def _connect(self, addresses: Sequence[object], port: int, attempt: object) -> object:
        assert addresses
        self.called.extend(map(str, addresses))
        raise EgressError(FailureReason.REFUSED)


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Iterator[Caller]:
    made = Caller(monkeypatch)
    yield made
    made.egress.close()


def test_hosts_given_as_addresses(caller: Caller, subtests: pytest.Subtests) -> None:
    caller.answers["localhost"] = ["127.0.0.1"]
    for outcome, hosts in WRITTEN.items():
        for host in hosts.split():
            with subtests.test(host):
                assert caller.outcome(host) == outcome
    assert set(caller.asked) == {"localhost"}, "an address is not resolved"


def test_hosts_by_the_addresses_of_their_names(caller: Caller, subtests: pytest.Subtests) -> None:
    for name, answers in NAMED.items():
        with subtests.test(name):
            caller.answers["hook.example"] = answers
            outcome = caller.outcome("hook.example")
            assert caller.called == [address for address in answers if address in PUBLIC]
            assert outcome == (CALLED if caller.called else NO_PUBLIC)


def test_a_name_of_the_network_is_not_told_from_one_that_does_not_exist(caller: Caller) -> None:
    """Else a customer could ask which names the operator's own network has."""
    caller.answers["db.internal"] = ["10.0.0.1"]
    assert caller.outcome("db.internal") == caller.outcome("none.internal") == NO_PUBLIC
    assert NO_PUBLIC == (
        "the host cannot be reached from here: its name does not resolve to a public address"
    )


def test_an_internationalized_name_is_looked_up_in_ascii(caller: Caller) -> None:
    for host in ("BÜCHER。example", "xn--bcher-kva.example."):
        assert caller.outcome(host) == NO_PUBLIC
    assert caller.asked == ["xn--bcher-kva.example"] * 2


def test_an_allowed_network_opens_its_addresses(subtests: pytest.Subtests) -> None:
    for network, address, is_open in [
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.0.0.1", True),
        ("10.0.0.0/8", "172.16.0.1", False),
        ("10.0.0.0/8", "::ffff:10.1.2.3", True),
        ("10.0.0.0/8", "::ffff:172.16.0.1", False),
        ("10.0.0.0/8", "::ffff:93.184.216.34", False),
        ("10.0.0.0/8", "64:ff9b::10.1.2.3", False),
        ("10.0.0.0/8", "2002:a01:203::1", False),
        ("10.0.0.0/8", "::10.1.2.3", False),
        ("64:ff9b::/96", "64:ff9b::93.184.216.34", True),
        ("::ffff:10.0.0.0/104", "::ffff:10.1.2.3", True),
        ("::ffff:10.0.0.0/104", "10.1.2.3", False),
        ("fd00::/8", "fd12::1", True),
        ("fd00::/8", "fd12::1%eth0", False),
        ("fd00::/8", "fc00::1", False),
        ("127.0.0.1/32", "127.0.0.1", True),
        ("127.0.0.1/32", "127.0.0.2", False),
    ]:
        with subtests.test(f"{address} of {network}"):
            assert is_allowed(ip_address(address), (ip_network(network),)) is is_open


def test_no_network_opens_cloud_metadata(subtests: pytest.Subtests) -> None:
    for address in METADATA.split():
        with subtests.test(address):
            assert not is_allowed(ip_address(address))
            assert not is_allowed(ip_address(address), EVERYTHING)
            assert not is_allowed(ip_address(address), (ip_network(address),))


def test_neighboring_addresses_are_public() -> None:
    for address in ("2606:2800::5efe:93.184.216.34", "2001:4860:4860::8888"):
        assert is_allowed(ip_address(address))


def test_all_addresses_of_a_name_are_resolved() -> None:
    assert "127.0.0.1" in resolve_name("localhost")
    with pytest.raises(OSError, match=r".+"):
        resolve_name("no-such-name.invalid")
