"""Requests as lines for a terminal. The key is in ``$KEY``, the id of a project in
``$PROJECT_ID``."""

from __future__ import annotations

import re
from typing import Any, Final

from app.reference.json_text import json_text

# Stands for the address of the instance until a page is sent: each reader has their own.
ADDRESS: Final = "https://address.invalid"
_CREDENTIAL: Final = '-H "Authorization: Bearer $KEY"'
_JSON: Final = "-H 'Content-Type: application/json'"


def curl(
    method: str,
    path: str,
    *,
    query: str = "",
    body: Any = None,
    form: dict[str, Any] | None = None,
    is_file: bool = False,
) -> str:
    """A request with curl, for any shell of POSIX.

    Args:
        path: with the names of ids in braces, as OpenAPI writes it.
        body: of JSON; None is no body.
        form: parts to send instead, of which ``file`` names a file.
        is_file: whether the response is saved, under the name that it comes with.
    """
    named = re.sub(r"{(\w+)}", lambda found: f"${found[1].upper()}", path)
    address = f'"{ADDRESS}{named}{query}"' if named != path else f"'{ADDRESS}{path}{query}'"
    if form is not None:
        parts = form | {"file": f"@{form['file']}"}
        options = [f"-F {_quoted(f'{name}={value}')}" for name, value in parts.items()]
        return " \\\n  ".join([f"curl {address}", _CREDENTIAL, *options])
    implied = "GET" if body is None else "POST"
    begin = "curl" if method == implied else f"curl -X {method}"
    if body is None:
        return f"{begin}{' -OJ' if is_file else ''} {address} \\\n  {_CREDENTIAL}"
    sent = f"-d {_quoted(json_text(body))}"
    return " \\\n  ".join([f"{begin} {address}", _CREDENTIAL, _JSON, sent])


def _quoted(text: str) -> str:
    """Text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
