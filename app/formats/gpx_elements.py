"""The elements of GPX 1.1 with a value, by the names that GDAL gives their columns."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

_DECIMAL: Final = r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?"
_TIME: Final = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
)
# Those of a waypoint with text alone, in the order of the schema, and what each may hold.
ELEMENTS: Final = {
    "ele": _DECIMAL,
    "time": _TIME,
    "magvar": r"[0-9]{1,3}(?:\.[0-9]{1,20})?",
    "geoidheight": _DECIMAL,
    "name": "",
    "cmt": "",
    "desc": "",
    "src": "",
    "link": "",  # with the columns of LINK
    "sym": "",
    "type": "",
    "fix": "none|2d|3d|dgps|pps",
    "sat": "[0-9]{1,9}",
    **dict.fromkeys(("hdop", "vdop", "pdop", "ageofdgpsdata"), _DECIMAL),
    "dgpsid": "[0-9]{1,3}|10[01][0-9]|102[0-3]",
}
NUMBERS: Final = {"sat", "dgpsid", "number"}.union(  # the last one of routes and tracks
    name for name, form in ELEMENTS.items() if form.endswith(")?")
)
LINK: Final = ("link{}_href", "link{}_text", "link{}_type")  # of each link, from 1
# Other names in the metadata for the same.
ALIASES: Final = {"desc": ("description",), "sym": ("symbol",)}


def element_text(name: str, metadata: dict[str, Any]) -> tuple[str | None, str | None]:
    """The text of an element, and the key of the metadata that it comes from; None without."""
    form = ELEMENTS.get(name, "")
    for key in (name, *ALIASES.get(name, ())):
        value = metadata.get(key)
        text = format(Decimal(repr(value)), "f") if type(value) in (int, float) else value
        if isinstance(text, str) and text and (not form or re.fullmatch(form, text)):
            return text, key
    return None, None
