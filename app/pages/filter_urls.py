"""The addresses of lists, whose queries are the filters."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode


def filtered(path: str, chosen: Mapping[str, object], default: Mapping[str, str]) -> str:
    """The address of a list. What is empty, or as it is by default, is left out."""
    query = {
        name: value for name, value in chosen.items() if value not in (None, "", default.get(name))
    }
    return f"{path}?{urlencode(query)}" if query else path
