"""People of an account, each with a browser in which they are signed in."""

from __future__ import annotations

import html
import re
from typing import Any

import orjson

from tests import make
from tests.make import Browser, Client, make_member
from tests.make.browser import Page

HOSTILE = "<script>alert(1)</script> \u202e" + "\u05d0" * 150

MULTIPART = "multipart/form-data; boundary=part"


def browser_of(client: Client, role: str = "owner") -> Browser:
    """The browser of a member with this role; for owners of the one who made the account."""
    user_id = client.owner_id if role == "owner" else make_member(client, role).id
    return signed_in_browser(client, user_id)


def signed_in_browser(client: Client, user_id: str) -> Browser:
    """A browser in which somebody is signed in and works in the account."""
    return make.signed_in_browser(client.app, user_id, client.account_id, confirmed=False)


def post(browser: Browser, path: str, headers: dict[str, str] | None = None, **fields: Any) -> Page:
    """A post with the token of the browser's forms."""
    token = browser.get("/accounts").form("/logout").fields
    return browser.send(path, headers, **token, **fields)


def json_of(browser: Browser, path: str, **headers: str) -> Any:
    """What a script of a page reads."""
    given = {"X-Requested-With": "fetch", "Accept": "*/*"} | headers
    response = browser.get(path, follow=False, headers=given).response
    assert response.status_code == 200, response.get_data(as_text=True)
    return response.get_json(force=True)


def several_parts(**parts: bytes | str | list[str]) -> bytes:
    """A form as ``MULTIPART``; ``file`` is one that was chosen. A list has the values of several
    fields."""
    body = b""
    fields = [
        (name, each)
        for name, value in parts.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    for name, value in fields:
        chosen = '; filename="a.csv"' if name == "file" else ""
        body += f'--part\r\nContent-Disposition: form-data; name="{name}"{chosen}\r\n\r\n'.encode()
        body += (value.encode() if isinstance(value, str) else value) + b"\r\n"
    return body + b"--part--\r\n"


def text_of(geometry: Any) -> str:
    """A geometry as people paste it."""
    return orjson.dumps(geometry).decode()


def metadata_of(page: Page) -> dict[str, list[str]]:
    """The fields of the rows of metadata on a page, as a browser sends them."""
    text = page.response.get_data(as_text=True).replace("\r\n", "\n")
    rows = text.split('<div class="metadata-row">')[1:]
    value = r'name="metadata_value" value="([^"]*)"|<textarea[^>]*>\n([^<]*)</textarea>'
    found = [re.search(value, row) for row in rows]
    sent = {
        "metadata_was": [re.search(r'_was" value="([^"]*)"', row).group(1) for row in rows],  # type: ignore[union-attr]
        "metadata_name": [re.search(r'_name" value="([^"]*)"', row).group(1) for row in rows],  # type: ignore[union-attr]
        "metadata_value": [each.group(each.lastindex or 1) for each in found if each],
    }
    return {
        name: [re.sub(r"\r?\n|\r", "\r\n", html.unescape(each)) for each in values]
        for name, values in sent.items()
    }
