"""The client's address behind reverse proxies."""

from __future__ import annotations

from typing import Any

from app.http.proxies import ForwardedAddress


def _seen(header: str | None, hops: int) -> str:
    seen: dict[str, Any] = {}

    def application(environ: dict[str, Any], _: Any) -> list[bytes]:
        seen.update(environ)
        return []

    environ = {"REMOTE_ADDR": "127.0.0.1"}
    if header is not None:
        environ["HTTP_X_FORWARDED_FOR"] = header
    ForwardedAddress(application, hops)(environ, None)
    return str(seen["REMOTE_ADDR"])


def test_the_entry_of_the_outermost_trusted_proxy_counts() -> None:
    for header, hops, address in [
        ("203.0.113.9", 1, "203.0.113.9"),
        ("10.0.0.1, 203.0.113.9", 1, "203.0.113.9"),
        ("10.0.0.1, 203.0.113.9, 192.0.2.1", 2, "203.0.113.9"),
        ("2001:db8::1", 1, "2001:db8::1"),
        ("203.0.113.9:4711", 1, "203.0.113.9"),
        ("[2001:db8::1]:443", 1, "2001:db8::1"),
        ("[2001:db8::1]", 1, "2001:db8::1"),
        ("10.0.0.1, 203.0.113.9:4711, [::1]:80", 2, "203.0.113.9"),
    ]:
        assert _seen(header, hops) == address


def test_a_client_that_cannot_be_told_has_no_address() -> None:
    for header, hops in [
        (None, 1),
        ("", 1),
        ("203.0.113.9", 2),
        ('"a, 203.0.113.9"', 1),
        ("unknown", 1),
        ("203.0.113.9:", 1),
        ("[203.0.113.9:4711", 1),
        ("[2001:db8::1]x", 1),
        ("127.0.0.1,", 1),
    ]:
        assert _seen(header, hops) == ""


def test_a_quote_does_not_hide_the_rest_of_the_list() -> None:
    assert _seen('"a, 203.0.113.9', 1) == "203.0.113.9"
