"""JSON as the reference page shows it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

# A multi-line array of numbers only, such as a position.
_NUMBERS: Final = re.compile(r"\[\s+([-+.\d\seE,]+?)\s+\]")
_SHORT: Final = 60  # characters of an object or list that stays on one line


def json_text(value: Any) -> str:
    """Indented JSON; what is short, and each position, stays on one line."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) <= _SHORT:
        return short
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return _NUMBERS.sub(lambda found: "[" + " ".join(found[1].split()) + "]", text)
