"""The host that mails are sent from, in their ids and to the mail server."""

from __future__ import annotations

from app.mail.messages import mail_host


def test_mail_host() -> None:
    for public_url, host in (
        ("https://Canopy.Example:8443/x", "canopy.example"),
        ("http://127.0.0.1:8000", "[127.0.0.1]"),
        ("http://[2001:db8::7]:8000", "[IPv6:2001:db8::7]"),
        ("https://wälder.example", "xn--wlder-gra.example"),
        ("https://a b\r\n>.example", "a-b-.example"),
        ("http://", "localhost"),
    ):
        assert mail_host(public_url) == host
