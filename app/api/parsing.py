"""Strict parsing of JSON bodies and query strings by their schemas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NoReturn
from urllib.parse import unquote, unquote_to_bytes

import marshmallow as ma
from flask import Request
from webargs.flaskparser import FlaskParser
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge

from app.api.deprecations import note_deprecated_names
from app.api.expensive import reading_body
from app.http.errors import BadRequest, Detail, InvalidField, ValidationFailed
from app.values.messages import NO_OBJECT
from app.values.strict_json import JsonInvalid, loads

INVALID_QUERY: Final = "The query parameters are not valid."
MOST_DETAILS: Final = 100
LONGEST_FIELD: Final = 200


class StrictParser(FlaskParser):
    """webargs' parser with this service's JSON, and its errors instead of webargs' own.

    A malformed body, or a query parameter that is wrong, unknown or repeated, raises BadRequest; a
    wrong field of a body raises ValidationFailed.
    """

    DEFAULT_UNKNOWN_BY_LOCATION = {"json": ma.RAISE, "query": ma.RAISE, "form": ma.RAISE}  # noqa: RUF012

    def parse(self, *args: Any, **options: Any) -> Any:
        with reading_body():
            return super().parse(*args, **options)

    def load_json(self, req: Request, schema: ma.Schema) -> Any:
        raw = whole_body(req)
        if not raw:
            if getattr(schema, "may_be_absent", False):
                return {}
            raise InvalidField("body", "The body is empty. Send a JSON object.", "required")
        value = _parse_json_body(raw)
        if not isinstance(value, dict):
            raise InvalidField("body", NO_OBJECT, "wrong_type")
        note_deprecated_names(value)
        return value

    def load_form(self, req: Request, schema: ma.Schema) -> Any:
        """The fields of a form with several parts, and its files."""
        try:
            fields, files = req.form, req.files
        except RequestEntityTooLarge:
            message = "The form has too many parts, or a field that is too long."
            raise BadRequest(message, details=[Detail("body", message, "too_many")]) from None
        parts = MultiDict([*fields.items(multi=True), *files.items(multi=True)])
        if repeated := [name for name, values in parts.lists() if len(values) > 1]:
            name = _shorten_field_name(repeated[0])
            raise InvalidField(name, "Send this field only once.", "not_unique")
        note_deprecated_names(parts)
        return parts.to_dict()

    def load_querystring(self, req: Request, schema: ma.Schema) -> Any:
        _check_query(req)
        return req.args.to_dict()

    def handle_error(
        self, error: ma.ValidationError, req: Request, schema: ma.Schema, **_: Any
    ) -> NoReturn:
        # marshmallow's frame refers to the error, and it to the frame and the body: a cycle.
        error.__traceback__ = None
        messages: dict[str, Any] = error.normalized_messages()  # type: ignore[no-untyped-call]
        (inner,) = messages.values()
        details = list(islice(_iterate_messages(inner), MOST_DETAILS))
        if set(messages) == {"query"}:
            raise BadRequest(INVALID_QUERY, details=details) from None
        raise ValidationFailed(details=details) from None


PARSER = StrictParser()


def details_of(error: ma.ValidationError) -> list[Detail]:
    """The errors of a schema with their dotted paths, at most ``MOST_DETAILS``."""
    messages = error.normalized_messages()  # type: ignore[no-untyped-call]
    return list(islice(_iterate_messages(messages), MOST_DETAILS))


def whole_body(req: Request) -> bytes:
    """The whole body of a request.

    Raises:
        BadRequest: it is shorter than announced.
    """
    raw, announced = req.get_data(), req.content_length
    if announced is not None and len(raw) < announced:
        message = (
            f"Only {len(raw):,} of {announced:,} bytes of the body arrived. Send the request again."
        )
        raise BadRequest(message, details=[Detail("body", message, "invalid")])
    return raw


def _check_query(req: Request) -> None:
    """Raise BadRequest if a query parameter is repeated, or is not UTF-8."""
    pairs = req.query_string.split(b"&") if b"%" in req.query_string else []
    if odd := [pair for pair in pairs if not _is_utf_8(pair)]:
        names = (unquote(pair.partition(b"=")[0].decode()) for pair in odd)
        _refuse_names(names, "Must be UTF-8, percent-encoded.", "wrong_format")
    repeated = (name for name, values in req.args.lists() if len(values) > 1)
    _refuse_names(repeated, "Send this parameter only once.", "not_unique")


def _refuse_names(names: Iterable[str], message: str, code: str) -> None:
    """Raise BadRequest if there are query parameters of these names."""
    details = [
        Detail(_shorten_field_name(name), message, code) for name in islice(names, MOST_DETAILS)
    ]
    if details:
        raise BadRequest(INVALID_QUERY, details=details)


def _is_utf_8(encoded: bytes) -> bool:
    try:
        unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        return False
    return True


def refuse_parameters(req: Request, *, but: str | None = None) -> None:
    """Raise BadRequest for query parameters that a route does not take.

    Args:
        but: the only one that it takes, if any.
    """
    if not req.args:
        return
    if but is not None and but in req.args:
        _check_query(req)
    message = f"The only query parameter of this operation is {but}."
    message = message if but else "This operation takes no query parameters."
    _refuse_names((name for name in req.args if name != but), message, "unknown")


def refuse_body(req: Request) -> None:
    """Reject a body other than ``{}``.

    Raises:
        BadRequest: it is not JSON.
        ValidationFailed: it is not empty.
    """
    with reading_body():
        raw = whole_body(req)
        is_empty = not raw or _parse_json_body(raw) == {}
    if not is_empty:
        raise InvalidField("body", "Send no body: this operation takes none.", "unknown")


def _parse_json_body(raw: bytes) -> Any:
    """Parse a body. Raises BadRequest if it is not JSON."""
    try:
        return loads(raw)
    except JsonInvalid as error:
        raise BadRequest(str(error), details=[Detail("body", str(error), "invalid")]) from None


def _iterate_messages(node: Any, path: tuple[str, ...] = ()) -> Iterator[Detail]:
    """Yield marshmallow's nested messages, each with its dotted path."""
    if isinstance(node, Mapping):
        for name, inner in node.items():
            yield from _iterate_messages(inner, path if name == "_schema" else (*path, str(name)))
    else:
        for message in node if isinstance(node, list) else [node]:
            code = getattr(message, "code", "invalid")
            yield Detail(_shorten_field_name(".".join(path)) or "body", str(message), code)


def _shorten_field_name(name: str) -> str:
    """A name that a client sent, cut off if it is long."""
    return name if len(name) <= LONGEST_FIELD else f"{name[:LONGEST_FIELD]}…"
