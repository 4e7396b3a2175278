"""What a URL may be that is called."""

from __future__ import annotations

import re

import pytest

from app.outbound.targets import UrlTarget, parse_target
from app.policy.deliveries import URL_LENGTH

GOOD = {
    "https://a.example": ("a.example", 443, "a.example", "/"),
    "https://a.example/": ("a.example", 443, "a.example", "/"),
    "HTTPS://A.Example/B/c?D=e": ("a.example", 443, "a.example", "/B/c?D=e"),
    "https://a.example?b": ("a.example", 443, "a.example", "/?b"),
    "https://a.example/?": ("a.example", 443, "a.example", "/?"),
    "https://a.example:443/": ("a.example", 443, "a.example", "/"),
    "https://a.example:08443/": ("a.example", 8443, "a.example:8443", "/"),
    "https://a.example:1": ("a.example", 1, "a.example:1", "/"),
    "https://a.example:65535": ("a.example", 65535, "a.example:65535", "/"),
    "https://a.example./": ("a.example", 443, "a.example", "/"),
    "https://a_b.x--y.example/": ("a_b.x--y.example", 443, "a_b.x--y.example", "/"),
    "https://a/": ("a", 443, "a", "/"),
    "https://1.a/": ("1.a", 443, "1.a", "/"),
    "https://0x7f.a/": ("0x7f.a", 443, "0x7f.a", "/"),
    "https://1.2.3.4:99/": ("1.2.3.4", 99, "1.2.3.4:99", "/"),
    "https://[2001:DB8::0:1]/": ("2001:db8::1", 443, "[2001:db8::1]", "/"),
    "https://[::1]:99/": ("::1", 99, "[::1]:99", "/"),
    "https://a.example/..//%2e%2E/%00": ("a.example", 443, "a.example", "/..//%2e%2E/%00"),
    "https://a.example/a@b:c": ("a.example", 443, "a.example", "/a@b:c"),
    "https://a.example?@b": ("a.example", 443, "a.example", "/?@b"),
    "https://bücher.example/": ("xn--bcher-kva.example", 443, "xn--bcher-kva.example", "/"),
    "https://faß.example/": ("xn--fa-hia.example", 443, "xn--fa-hia.example", "/"),
    "https://ａ。example/": ("a.example", 443, "a.example", "/"),
    f"https://{'a' * 63}.example/": (f"{'a' * 63}.example", 443, f"{'a' * 63}.example", "/"),
}
BAD = {
    "": "characters",
    "a.example": "https://",
    "/hook": "https://",
    "//a.example": "https://",
    "http://a.example": "https://",
    "ftp://a.example": "https://",
    "https:a.example": "https://",
    "https:/a.example": "https://",
    "xhttps://a.example": "https://",
    "httpſ://a.example": "https://",
    " https://a.example": "spaces",
    "https://a.example ": "spaces",
    "https://a.example/a b": "spaces",
    "https://a.example/\r\nX-A: b": "spaces",
    "https://a.ex\tample/": "spaces",
    "https://a.example/\x00": "spaces",
    "https://a.example/\x7f": "spaces",
    "https://a.example\u2028": "spaces",
    "https://a.example/\u00a0": "spaces",
    "https://a.example\\@b.example/": "backslashes",
    "https://a.example/\\b": "backslashes",
    "https://a.example/#b": "fragment",
    "https://a.example#@b.example/": "fragment",
    "https://user@a.example/": "user",
    "https://user:password@a.example/": "user",
    "https://@a.example/": "user",
    "https://a.example@b.example:99/": "user",
    "https://a%2eexample/": "percent",
    "https://[fe80::1%25eth0]/": "percent",
    "https://": "host",
    "https:///a": "host",
    "https://:443/": "host",
    "https://?a": "host",
    "https://a.example:/": "host",
    "https://a.example:0/": "port",
    "https://a.example:65536/": "port",
    "https://a.example:100443/": "port",
    "https://a.example:-1/": "port",
    "https://a.example:+1/": "port",
    "https://a.example:４４３/": "port",
    "https://a.example:80:443/": "port",
    "https://::1/": "port",
    "https://[::1/": "host",
    "https://::1]/": "host",
    "https://[[::1]]/": "host",
    "https://[::1]a/": "host",
    "https://[]/": "IPv6",
    "https://[::g]/": "IPv6",
    "https://[1.2.3.4]/": "IPv6",
    "https://[a.example]/": "IPv6",
    "https://./": "name",
    "https://../": "name",
    "https://.a.example/": "name",
    "https://a..example/": "name",
    "https://a.example../": "name",
    "https://-a.example/": "name",
    "https://a-.example/": "name",
    "https://a!b.example/": "name",
    "https://a,b.example/": "name",
    "https://*.example/": "name",
    "https://a.example;b/": "name",
    f"https://{'a' * 64}.example/": "name",
    f"https://{'a.' * 127}a/": "name",
    "https://ü..example/": "internationalized",
    "https://☃.example/": "internationalized",
    "https://a\u202e.example/": "internationalized",
    "https://1.2.3/": "IPv4",
    "https://1.2.3.04/": "IPv4",
    "https://0x7f000001/": "IPv4",
    "https://a.0x1/": "IPv4",
    "https://a.example/ü": "percent-encoded",
    "https://a.example/?ü": "percent-encoded",
    "https://a.example/" + "a" * URL_LENGTH: "characters",
}


def test_a_url_that_can_be_called(subtests: pytest.Subtests) -> None:
    for url, target in GOOD.items():
        with subtests.test(url):
            assert parse_target(url) == UrlTarget(*target)


def test_a_url_of_the_operator() -> None:
    targets = {
        "http://a.example": UrlTarget("a.example", 80, "a.example", "/", is_secure=False),
        "HTTP://a:80/b": UrlTarget("a", 80, "a", "/b", is_secure=False),
        "http://a:443/": UrlTarget("a", 443, "a:443", "/", is_secure=False),
        "https://a:80/": UrlTarget("a", 80, "a:80", "/"),
    }
    for url, target in targets.items():
        assert parse_target(url, may_be_http=True) == target


def test_a_url_that_cannot_be_called(subtests: pytest.Subtests) -> None:
    for url, word in BAD.items():
        with subtests.test(url[:60]):
            with pytest.raises(ValueError, match=re.escape(word)) as refused:
                parse_target(url)
            assert str(refused.value).startswith("Must ")


def test_a_long_host_name_is_rejected_quickly() -> None:
    with pytest.raises(ValueError, match="internationalized"):
        parse_target(f"https://{'ü' * 2000}.example/")


def test_a_url_of_the_maximum_length() -> None:
    url = "https://a.example/"
    assert parse_target(url + "a" * (URL_LENGTH - len(url)))
