"""Redirects go to registered URIs only.

``ATTACKS`` lists what has leaked codes in other servers (RFC 9700, section 4.1).
"""

from __future__ import annotations

from typing import NamedTuple

from app.oauth.redirect_uris import is_registered
from tests.make import Application, Browser, Client, make_application
from tests.make.oauth import BACK
from tests.oauth.support import authorize_url, browser_of


class Attack(NamedTuple):
    """A requested URI that resembles ``BACK``, and what it exploits."""

    tries: str
    uri: str


ATTACKS = [
    Attack("nothing", ""),
    Attack("another host", "https://evil.example/back"),
    Attack("prefix", "https://client.example/backdoor"),
    Attack("prefix of the path", "https://client.example/back/evil"),
    Attack("shorter", "https://client.example/bac"),
    Attack("no path", "https://client.example"),
    Attack("substring", "https://evil.example/https://client.example/back"),
    Attack("substring in the query", "https://evil.example/?https://client.example/back"),
    Attack("substring in the fragment", "https://evil.example/#https://client.example/back"),
    Attack("longer host", "https://client.example.evil.example/back"),
    Attack("host with a suffix", "https://client.exampleevil.example/back"),
    Attack("host with a prefix", "https://evilclient.example/back"),
    Attack("subdomain", "https://sub.client.example/back"),
    Attack("parent domain", "https://example/back"),
    Attack("trailing dot of the host", "https://client.example./back"),
    Attack("upper-case scheme", "HTTPS://client.example/back"),
    Attack("upper-case host", "https://CLIENT.example/back"),
    Attack("upper-case path", "https://client.example/BACK"),
    Attack("http", "http://client.example/back"),
    Attack("another scheme", "javascript://client.example/back"),
    Attack("no scheme", "//client.example/back"),
    Attack("the port that goes without saying", "https://client.example:443/back"),
    Attack("another port", "https://client.example:444/back"),
    Attack("an empty port", "https://client.example:/back"),
    Attack("a user's name", "https://client.example@evil.example/back"),
    Attack("a user's name before", "https://evil.example@client.example/back"),
    Attack("an encoded user's name", "https://client.example%40evil.example/back"),
    Attack("a password", "https://client.example:443@evil.example/back"),
    Attack("backslash for slash", "https:\\\\client.example\\back"),
    Attack("backslash behind the host", "https://evil.example\\@client.example/back"),
    Attack("one slash", "https:/client.example/back"),
    Attack("three slashes", "https:///client.example/back"),
    Attack("two slashes in the path", "https://client.example//back"),
    Attack("path traversal", "https://client.example/back/../evil"),
    Attack("path traversal that comes back", "https://client.example/evil/../back"),
    Attack("encoded path traversal", "https://client.example/back/%2e%2e/evil"),
    Attack("twice encoded", "https://client.example/back/%252e%252e/evil"),
    Attack("overlong encoding", "https://client.example/back/%c0%ae%c0%ae/evil"),
    Attack("a dot segment", "https://client.example/./back"),
    Attack("path parameters", "https://client.example/back;evil"),
    Attack("trailing slash", "https://client.example/back/"),
    Attack("trailing dot", "https://client.example/back."),
    Attack("trailing question mark", "https://client.example/back?"),
    Attack("a query", "https://client.example/back?next=https://evil.example"),
    Attack("an empty fragment", "https://client.example/back#"),
    Attack("a fragment", "https://client.example/back#evil"),
    Attack("an encoded letter", "https://client.example/%62ack"),
    Attack("an encoded host", "https://%63lient.example/back"),
    Attack("an encoded slash", "https://client.example%2fback"),
    Attack("an IDN that looks alike", "https://cl\u0456ent.example/back"),
    Attack("the same in punycode", "https://xn--clent-4we.example/back"),
    Attack("full-width letters", "https://client\uff0eexample/back"),
    Attack("an ideographic stop", "https://client.example\u3002evil.example/back"),
    Attack("space before", " https://client.example/back"),
    Attack("space behind", "https://client.example/back "),
    Attack("tab", "https://client.example\t.evil.example/back"),
    Attack("line feed", "https://client.example/back\nSet-Cookie: a=b"),
    Attack("carriage return and line feed", "https://client.example/back\r\nLocation: evil"),
    Attack("NUL", "https://client.example/back\x00.evil.example"),
    Attack("invisible", "https://client.example/\u200bback"),
    Attack("right to left", "https://client.example/\u202eback"),
    Attack("a wildcard", "https://client.example/*"),
    Attack("very long", "https://client.example/back" + "x" * 1_900),
    Attack("too long", "https://client.example/back" + "x" * 10_000),
    Attack("loopback", "http://127.0.0.1:8000/back"),
    Attack("out of band", "urn:ietf:wg:oauth:2.0:oob"),
]


def _refused(client: Client, address: str) -> None:
    """Assert that there is no redirect, signed in or not, for GET and POST."""
    browser = Browser(client.app)
    for page in (browser.get(address, follow=False), browser.send(address, decision="allow")):
        assert page.status in (400, 403)
        assert "Location" not in page.response.headers
        assert page.response.mimetype == "text/html"
        assert "Refresh" not in page.response.headers
        assert "http-equiv" not in page.response.get_data(as_text=True)
        assert not [link for link in page.links if not link.startswith(("/", "#"))]


def test_a_uri_that_resembles_a_registered_one_is_none() -> None:
    assert [attack for attack in ATTACKS if is_registered(attack.uri, [BACK])] == []


# Of each way in which a request can name one.
AS_PAGES = ("nothing", "another host", "prefix", "trailing slash", "a fragment", "line feed",
            "an IDN that looks alike", "another scheme", "loopback", "too long")  # fmt: skip


def test_no_redirect_to_unregistered_uris(client: Client, application: Application) -> None:
    uris = {attack.tries: attack.uri for attack in ATTACKS}
    for tries in AS_PAGES:
        _refused(client, authorize_url(application, redirect_uri=uris[tries]))


def test_qgis_signs_in_and_its_port_0_is_named(client: Client) -> None:
    """QGIS and QField listen on 7070, and after a failed sign-in ask for port 0."""
    application = make_application(client, public=True, redirect_uris=("http://127.0.0.1/",))
    browser = browser_of(client)
    for port, status, told in (
        (7070, 200, "asks for access"),
        (0, 400, "restart the program, and sign in again"),
    ):
        uri = f"http://127.0.0.1:{port}/"
        page = browser.get(authorize_url(application, redirect_uri=uri))
        assert page.status == status
        assert told in page.text
    page = browser.get(authorize_url(application, redirect_uri="http://127.0.0.2:0/"))
    assert "has not registered this redirect_uri" in page.text


def test_a_second_redirect_uri_is_never_used(client: Client, application: Application) -> None:
    address = authorize_url(application)
    for query in (
        "&redirect_uri=https://evil.example",
        "&redirect_uri=https://client.example/back",
        "&redirect_uri=",
        "&client_id=app_01arz3ndektsv4rrffq69g5fav",
        "&%72edirect_uri=https://evil.example",
    ):
        _refused(client, address + query)
    _refused(client, address.replace("?", "?redirect_uri=https://evil.example&"))
    twice = browser_of(client).get(f"{address}&redirect_uri=https://client.example/back")
    assert "Send one redirect_uri." in twice.text


def test_no_redirect_for_unknown_applications(client: Client, application: Application) -> None:
    for client_id in (
        *("", "x", "app_01arz3ndektsv4rrffq69g5fav", "' OR 1=1", "x" * 5_000),
        "app_01arz3ndektsv4rrffq69g5fav\x00",
    ):
        _refused(client, authorize_url(application, client_id=client_id))


def test_no_redirect_to_the_uri_of_another_application(
    client: Client, application: Application
) -> None:
    other = make_application(client, redirect_uris=["https://other.example/back"])
    _refused(client, authorize_url(application, redirect_uri=other.redirect_uri))
