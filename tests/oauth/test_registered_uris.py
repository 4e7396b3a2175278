"""Which redirect URIs can be registered, which of a request are one, and what is added to them."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from app.http.errors import ValidationFailed
from app.oauth.redirect_uris import (
    display_host,
    is_registered,
    redirect_uri_problem,
    with_parameters,
)
from tests.make import Client, make_application
from tests.make.oauth import BACK, exchange, grant_code

GOOD = [
    "https://client.example",
    "https://client.example/",
    "https://client.example/back",
    "https://client.example:8443/back?tenant=a%20b&x",
    "https://CLIENT.example/Back",
    "https://xn--frster-bua.example/back",
    "https://[2001:db8::1]/back",
    "https://192.0.2.7/back",
    "https://client.example/a/.well-known/..b/back",
    "https://client.example/back?next=/../x",
    "http://127.0.0.1/back",
    "http://127.0.0.1:8080",
    "http://[::1]:3000/back",
    "http://localhost:3000/back",
    "com.example.app:/back",
    "com.example.app://back",
    "com.example.app:///back",
    "com.example.my-app+beta:/",
]
HTTPS = "Must be https; http is for 127.0.0.1, [::1], localhost only."
# What each message is said of.
BAD = {
    "Must have 1 to 2,000 characters.": [
        "",
        "https://client.example/" + "x" * 2_000,
    ],
    "Must contain only characters valid in a URI. Write international names as xn--…": [
        "https://client.example/%zz",
        "https://client.example/%",
        "https://client.example/a b",
        " https://client.example/back",
        "https://client.example/back\n",
        "https://client.example/\tback",
        "https://client.example/\x00",
        "https://client.example\\back",
        "https://förster.example/back",
        "https://client.example/<back>",
        'https://client.example/"',
    ],
    "Must not have a fragment.": [
        "https://client.example/back#",
        "https://client.example/back#token",
    ],
    "Must be a complete URI, without wildcards.": [
        "https://*.example/back",
        "https://client.example/*",
    ],
    "Must have only a host and, optionally, a port before its path.": [
        "https:",
        "https:/client.example/back",
        "https:client.example",
        "https://",
        "https:///back",
        "https://?x",
        "https://:443/back",
        "https://client.example:/back",
        "https://client.example:0/back",
        "https://client.example:65536/back",
        "https://client.example:44a/back",
        "https://client.example:-1/back",
        "https://client..:80:81/back",
        "https://-client.example/back",
        "https://client.example-/back",
        "https://user@client.example/back",
        "https://user:password@client.example/back",
        "https://client.example%40evil.example/back",
        "https://client.example%2Fback",
        "https://[::1/back",
        "https://[::g]/back",
        "https://[:::]/back",
        "https://[::1]x/back",
    ],
    HTTPS: [
        "http://client.example/back",
        "http://10.0.0.1/back",
        "http://127.0.0.2/back",
        "http://127.1/back",
        "http://2130706433/back",
        "http://0.0.0.0/back",
        "http://[::ffff:127.0.0.1]/back",
        "http://localhost.evil.example/back",
        "http://127.0.0.1.evil.example/back",
        "http://LOCALHOST/back",
    ],
    "Must not have . or .. in its path.": [
        "https://client.example/../back",
        "https://client.example/a/./back",
        "https://client.example/%2e%2E/back",
        "https://client.example/a/..",
        "com.example.app:/../x",
    ],
    "Must begin with https://, with http:// and a loopback address, or with a scheme of the "
    "application's own, such as com.example.app:/": [
        "back",
        "/back",
        "//client.example/back",
        "HTTP://127.0.0.1/back",
        "HTTPS://client.example/back",
        "javascript:alert(1)",
        "javascript://client.example/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x",
        "about:blank",
        "blob:https://client.example/x",
        "mailto:a@client.example",
        "ftp://client.example/back",
        "myapp:/back",
        "myapp://back",
        "com..app:/back",
        ".example:/back",
        "1com.example:/back",
        "Com.Example.App:/back",
        "urn:ietf:wg:oauth:2.0:oob",
    ],
    "Must have a path after its scheme, such as com.example.app:/back": [
        "com.example.app:back",
        "com.example.app:",
    ],
    "Must have only a host and, optionally, a port between // and its path.": [
        "com.example.app://user@back/x",
        "com.example.app://[/x",
    ],
}


def test_what_can_be_registered() -> None:
    for uri in GOOD:
        assert redirect_uri_problem(uri) is None, uri
        assert is_registered(uri, [uri]), uri
        assert display_host(uri), uri


def test_what_cannot_be_registered() -> None:
    problems = {uri: message for message, uris in BAD.items() for uri in uris}
    assert {uri: redirect_uri_problem(uri) for uri in problems} == problems


@pytest.mark.parametrize(
    ("uris", "message"),
    [
        ([], "Must be 1 to 20 URIs."),
        ([BACK] * 21, "Must be 1 to 20 URIs."),
        ([BACK, "http://client.example/"], f"'http://client.example/': {HTTPS}"),
    ],
)
def test_an_application_with_a_wrong_one_is_not_made(
    client: Client, uris: list[str], message: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        make_application(client, redirect_uris=uris)
    found = [(detail.field, detail.message) for detail in refused.value.details]
    assert found == [("redirect_uris", message)]


LOOPBACK = ("http://127.0.0.1/cb?a=b", "http://[::1]:7000/cb", "http://localhost:7000/cb")


def test_of_a_loopback_address_the_port_may_be_another() -> None:
    for uri, is_known in (
        ("http://127.0.0.1/cb?a=b", True),
        ("http://127.0.0.1:1/cb?a=b", True),
        ("http://127.0.0.1:65535/cb?a=b", True),
        ("http://[::1]:51004/cb", True),
        ("http://[::1]/cb", True),
        ("http://localhost:51004/cb", True),
        ("http://127.0.0.1:65536/cb?a=b", False),
        ("http://127.0.0.1:0/cb?a=b", False),
        ("http://127.0.0.1:080/cb?a=b", False),
        ("http://127.0.0.1:/cb?a=b", False),
        ("http://127.0.0.1:80x/cb?a=b", False),
        ("http://127.0.0.1:8000/cb", False),
        ("http://127.0.0.1:8000/cb?a=b&c", False),
        ("http://127.0.0.1:8000/cb/?a=b", False),
        ("http://127.0.0.1:8000/CB?a=b", False),
        ("http://127.0.0.1:8000/cb?a=b#", False),
        ("http://127.0.0.1:8000/cb?a=b\n", False),
        ("http://127.0.0.1:8000@evil.example/cb?a=b", False),
        ("http://127.0.0.1:8000.evil.example/cb?a=b", False),
        ("http://127.0.0.1.evil.example/cb?a=b", False),
        ("http://127.0.0.2:8000/cb?a=b", False),
        ("http://localhost:8000/cb?a=b", False),
        ("http://127.0.0.1:7000/cb", False),
        ("https://127.0.0.1:8000/cb?a=b", False),
        ("HTTP://127.0.0.1/cb?a=b", False),
        ("http://user@127.0.0.1/cb?a=b", False),
        ("http:/127.0.0.1/cb?a=b", False),
        ("http://[::1%25lo]/cb", False),
        ("http://[0:0:0:0:0:0:0:1]/cb", False),
    ):
        assert is_registered(uri, LOOPBACK) is is_known, uri


@pytest.mark.parametrize(
    ("uri", "before"),
    [
        (BACK, ""),
        ("https://client.example/back?tenant=a%20b&x", "tenant=a%20b&x"),
        ("https://client.example/back?", ""),
        ("https://client.example/back?a=b&", "a=b"),
        ("com.example.app:/back", ""),
        ("http://127.0.0.1:8000", ""),
    ],
)
def test_parameters_are_added_and_nothing_is_changed(uri: str, before: str) -> None:
    state = "a b+c&d=e%20\u00fc/\"'<>\n"
    url = with_parameters(uri, {"code": "x", "state": state})
    assert url.startswith(uri)
    assert url.isascii()
    assert "\n" not in url
    query = urlsplit(url).query
    assert query.startswith(before)
    added = dict(parse_qsl(query, keep_blank_values=True))
    assert (added["code"], added["state"]) == ("x", state)


def test_the_code_is_good_for_the_uri_of_its_request_only(client: Client) -> None:
    """Of a loopback address the port may vary from request to request, and not within one."""
    application = make_application(client, redirect_uris=["http://127.0.0.1/cb"])
    uri = "http://127.0.0.1:51004/cb"
    code = grant_code(client.app, application, client.owner_id, client.account_id, redirect_uri=uri)
    for other in ("http://127.0.0.1/cb", "http://127.0.0.1:51005/cb"):
        assert exchange(client.app, application, code, redirect_uri=other).status_code == 400
    assert exchange(client.app, application, code, redirect_uri=uri).status_code == 200
