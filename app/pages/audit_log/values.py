"""Values of changed fields, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.pages.webhooks.event_groups import subscription_words
from app.policy.permissions import PERMISSIONS, SCOPES
from app.site import formats
from app.values.strict_json import dumps
from app.values.timestamps import TimestampInvalid, read_timestamp

_LONGEST: Final = 3_000  # characters
_MOST_ITEMS: Final = 50

_NAMES: Final = {
    "external_id": "External ID",
    "area_hectares": "Area",
    "project_id": "Project",
    "locale": "Language and region",
    "area_unit": "Unit of areas",
    "project_ids": "Projects",
    "ip_allowlist": "Allowed addresses",
    "redirect_uris": "Redirect addresses",
    "url": "URL",
    "event_types": "Types of events",
    "only_failed": "Only what failed",
    "email_verified_at": "Address confirmed",
    "expires_at": "Expires",
    "since": "From",
    "until": "To",
    "session": "Ended session",
    "public": "Public client, without a secret",
    "slug": "Short name",
    "second_factor_grace_days": "Days to turn on a second factor",
}
# The text for a field without a value.
_UNSET: Final = {
    "project_ids": "all projects",
    "ip_allowlist": "any address",
    "expires_at": "never",
    "event_types": "all types",
    "time_zone": "as the browser has it",
    "date_format": "as the browser has it",  # of entries from before locales
    "locale": "as the browser has it",
    "area_unit": "hectares",
    "second_factor_grace_days": "not required",
}
_IN_SENTENCES: Final = {"permissions": PERMISSIONS, "scopes": SCOPES}
_TIMES: Final = ("since", "until")
_OF_CREDENTIALS: Final = {"key_": "API key", "svc_": "service token"}
_LONG: Final = {"beginning", "bytes", "sha256"}  # keys that stand for a long value
_REMOVED: Final = "none anymore: it is revoked"


class Value(NamedTuple):
    """A value as a page shows it. ``kind`` is ``unset``, ``text``, ``list``, ``time`` or
    ``hectares``."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    number: float = 0


def field_name(name: str) -> str:
    """Return the label of a field. After a role was lowered, fields are ids of credentials."""
    for prefix, words in _OF_CREDENTIALS.items():
        if name.startswith(prefix):
            return f"Permissions of the {words} {name}"
    return _NAMES.get(name) or name.replace("_", " ").capitalize()


def value_of(name: str, value: Any) -> Value:
    """Return the value that an entry has of a field, as the page shows it."""
    if value is None or (value == [] and name in _UNSET):
        return Value("unset", _UNSET.get(name, "not set"))
    if isinstance(value, bool):
        return Value("text", "yes" if value else "no")
    if isinstance(value, list):
        return _list_value(name, value)
    if isinstance(value, Mapping):
        return _mapping_value(value)
    if name == "area_hectares" and isinstance(value, int | float):
        return Value("hectares", number=float(value))
    if isinstance(value, str):
        is_time = (name.endswith("_at") or name in _TIMES) and _is_timestamp(value)
        return Value("time" if is_time else "text", shorten_text(_plain_value(name, value)))
    return Value("text", str(value) if name == "metadata" else formats.number(value, 4, trim=True))


def parts_of(name: str, before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    """Return {label: (former, present)}: one pair for a field, and one for each key of metadata
    that differs."""
    if name != "metadata":
        return {field_name(name): (before, after)}
    former, present = before or {}, after or {}
    if not all(isinstance(value, Mapping) and value.keys() != _LONG for value in (former, present)):
        return {field_name(name): (before, after)}
    return {
        f"Metadata: {key}": (former.get(key), present.get(key))
        for key in {**former, **present}
        if former.get(key) != present.get(key)
    }


def shorten_text(text: str) -> str:
    """Cut a text that is too long for the page, and add its length."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({formats.number(len(text))} characters)"


def _plain_value(name: str, value: str) -> str:
    return value.replace("_", " ") if name in ("type", "status", "reason") else value


def _list_value(name: str, values: list[Any]) -> Value:
    if not values:
        return Value("unset", _REMOVED if name.startswith(tuple(_OF_CREDENTIALS)) else "none")
    texts = [_value_text(value) for value in values]
    if name in ("events", "event_types"):
        texts = subscription_words(texts) or texts
    words = _IN_SENTENCES.get(name, {})
    items = [f"{words[text]} ({text})" if text in words else shorten_text(text) for text in texts]
    if len(items) > _MOST_ITEMS:
        items[_MOST_ITEMS:] = [f"and {formats.number(len(items) - _MOST_ITEMS)} more"]
    return Value("list", items=tuple(items))


def _mapping_value(value: Mapping[str, Any]) -> Value:
    if value.keys() == _LONG:
        number, digest = f"{formats.number(value['bytes'])} bytes", f"SHA-256 {value['sha256']}"
        return Value("text", f"{value['beginning']}… ({number}, {digest})")
    coordinates = value.get("coordinates")
    if value.get("type") == "Point" and isinstance(coordinates, list) and len(coordinates) >= 2:
        longitude, latitude = coordinates[:2]
        return Value("text", formats.degrees(latitude, longitude))
    items = [shorten_text(f"{key}: {_value_text(member)}") for key, member in value.items()]
    return Value("list", items=tuple(items[:_MOST_ITEMS])) if items else Value("unset", "empty")


def _is_timestamp(text: str) -> bool:
    try:
        read_timestamp(text)
    except TimestampInvalid:
        return False
    return True


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value).decode()
