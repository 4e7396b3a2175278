"""Entity tags (RFC 9110, section 8.8.3) and the preconditions that use them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from flask import request

from app.http.errors import BadRequest, Detail, PreconditionFailed

GEOJSON: Final = "geojson"  # the end of a GeoJSON Feature's tag

_TAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*+"')
# RFC 9110, section 5.6.1: elements of a list may be empty.
_TAGS: Final = re.compile(rf"\s*+(?:{_TAG.pattern})?+(?:\s*+,\s*+(?:{_TAG.pattern})?+)*+\s*+")


def entity_tag(data: Iterable[bytes]) -> str:
    """The tag of a representation: 128 bits of a cryptographic hash of ``data``.

    With a weaker hash, a member could make two texts with one tag, and mislead others.

    Args:
        data: the bytes, in pieces, without ``meta`` that describes the request.
    """
    digest = hashlib.sha256()
    for part in data:
        digest.update(part)
    return f'"{digest.hexdigest()[:32]}"'


def _parse_tags(header: str, name: str) -> frozenset[str] | None:
    """The tags of an If-Match or If-None-Match header; None means ``*``.

    Raises:
        BadRequest: the header is not a list of entity tags.
    """
    if header.strip() == "*":
        return None
    tags = frozenset(_TAG.findall(header))
    if not tags or not _TAGS.fullmatch(header):
        message = 'Must be "*" or entity tags in double quotes, as the ETag header gave them.'
        detail = Detail(name, message, "wrong_format")
        raise BadRequest(f"The header {name} is not valid.", details=[detail])
    return tags


def is_known(tag: str) -> bool:
    """True if the client has the representation with this tag, by the If-None-Match of this
    request. Raises BadRequest if that is malformed."""
    header = request.headers.get("If-None-Match")
    if header is None:
        return False
    tags = _parse_tags(header, "If-None-Match")
    opaque = tag.removeprefix("W/")
    return tags is None or opaque in {sent_tag.removeprefix("W/") for sent_tag in tags}


def with_coding(tag: str, coding: str) -> str:
    """The tag of a representation in a content coding or another format: ``"…-gzip"`` for
    ``"…"``."""
    return f'{tag[:-1]}-{coding}"'


def without_coding(header: str, codings: Iterable[str]) -> str:
    """Remove the codings that ``with_coding`` appended to tags of a header."""
    ending = re.compile(rf'-(?:{"|".join(codings)})"$')
    return _TAG.sub(lambda match: ending.sub('"', match[0]), header)


class IfMatch:
    """The precondition of a change: the client knows the current resource, in any format."""

    def __init__(self, header: str | None) -> None:
        self._tags = None
        if header is not None:
            self._tags = _parse_tags(without_coding(header, (GEOJSON,)), "If-Match")

    def check(self, data: bytes) -> None:
        """Compare with the current resource, in the transaction of the change.

        Raises:
            PreconditionFailed: the tag of ``data`` was not sent. Weak tags never match (RFC 9110,
                section 13.1.1).
        """
        if self._tags is not None and entity_tag([data]) not in self._tags:
            raise PreconditionFailed


ANY = IfMatch(None)
