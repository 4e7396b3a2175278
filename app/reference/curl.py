"""Example requests as curl commands, with variables such as ``$KEY`` and ``$PROJECT_ID``."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

# A placeholder for the address of the instance, replaced when a page is sent.
ADDRESS: Final = "https://address.invalid"
_CREDENTIAL: Final = '-H "Authorization: Bearer $KEY"'
_JSON: Final = "-H 'Content-Type: application/json'"
# A multi-line array of numbers only, such as a position.
_NUMBERS: Final = re.compile(r"\[\s([-+.\d\seE,]++)\]")
_SHORT: Final = 60  # most characters of an object or list on one line


def curl_command(
    method: str,
    path: str,
    *,
    query: str = "",
    body: Any = None,
    form: dict[str, Any] | None = None,
    is_file: bool = False,
) -> str:
    """Write a request as a curl command for any POSIX shell.

    Args:
        path: the path in OpenAPI, with ids in braces.
        body: the JSON body; None for none.
        form: the parts of a form instead of a body; ``file`` is the name of a file.
        is_file: save the response as a file.
    """
    filled = re.sub(r"{(\w+)}", lambda match: f"${match[1].upper()}", path)
    address = f'"{ADDRESS}{filled}{query}"' if filled != path else f"'{ADDRESS}{path}{query}'"
    if form is not None:
        parts = form | {"file": f"@{form['file']}"}
        options = [f"-F {_quote_for_shell(f'{name}={value}')}" for name, value in parts.items()]
        return " \\\n  ".join([f"curl {address}", _CREDENTIAL, *options])
    default_method = "GET" if body is None else "POST"
    begin = "curl" if method == default_method else f"curl -X {method}"
    if body is None:
        return f"{begin}{' -OJ' if is_file else ''} {address} \\\n  {_CREDENTIAL}"
    data = f"-d {_quote_for_shell(json_text(body))}"
    return " \\\n  ".join([f"{begin} {address}", _CREDENTIAL, _JSON, data])


def json_text(value: Any) -> str:
    """Write JSON with indents; short values and positions stay on one line."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) <= _SHORT:
        return short
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return _NUMBERS.sub(lambda match: "[" + " ".join(match[1].split()) + "]", text)


def _quote_for_shell(text: str) -> str:
    """Quote a text as one word for a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
