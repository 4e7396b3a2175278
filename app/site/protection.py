"""Protection of pages: against cross-site request forgery, by a token in each form and the headers
Origin and Sec-Fetch-Site; and against texts that are too long."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from flask import Flask, Request, current_app, g, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask_wtf.csrf import CSRFError, CSRFProtect, generate_csrf
from itsdangerous import URLSafeTimedSerializer
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge

from app.api.expensive import reading_body
from app.http.errors import (
    ApiError,
    BadRequest,
    Detail,
    Forbidden,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
)
from app.policy.forms import FIELD_LENGTH, FIELD_LENGTHS, FORM_BYTES
from app.security.timed_signer import TimedSigner
from app.settings.current import current_settings
from app.site.cookies import cookie_name
from config import Settings

View = Callable[..., Any]

_csrf = CSRFProtect()
_COOKIE: Final = "canopy_forms"
# What werkzeug has of a file in memory at once: 64 KB, and the possible beginning of a line between
# two parts. It counts them as a field.
_PIECE_BYTES: Final = 64 * 1024 + 1024
_FILE_FORM_PARTS: Final = 20  # most parts of a form with a file; each may have FORM_BYTES in memory


class PageSessions(SecureCookieSessionInterface):
    """Flask's session, which has the CSRF secret and flashed messages.

    The API has none: opening it takes a tenth of the time of a request.
    """

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        is_api = request.path.startswith(("/v1/", "/api/"))
        return None if is_api else super().open_session(app, request)

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        serializer = super().get_signing_serializer(app)
        if serializer is not None:
            serializer.signer = TimedSigner
        return serializer


def init_app(app: Flask, settings: Settings) -> None:
    """Set up sessions and the tokens of forms. ``protect`` checks them; the hook of Flask-WTF does
    nothing."""
    app.secret_key = settings.secret_key
    app.session_interface = PageSessions()
    app.config.update(
        SESSION_COOKIE_NAME=cookie_name(_COOKIE, settings),
        SESSION_COOKIE_SECURE=settings.is_https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        WTF_CSRF_CHECK_DEFAULT=False,  # the API does not use cookies
        WTF_CSRF_SSL_STRICT=False,  # check_origin needs no Referer
        WTF_CSRF_TIME_LIMIT=None,  # the secret ends with the session
    )
    _csrf.init_app(app)


def protect() -> Any:
    """Reject a POST that another site made this browser send, and any text that is too long.

    The body is parsed for the token, which takes long for a large one. So its length is checked
    before, and it is only read from people who may use the page.

    Returns:
        The response to others, or None.

    Raises:
        PayloadTooLarge: the form is too large.
        ValidationFailed: a field is too long.
        BadRequest: a parameter of the query is too long, or the form is chunked. Browsers do not
            chunk forms, and werkzeug would truncate it.
        Forbidden: it comes from another site, has expired, or is large and its sender may not use
            the page.
        Unauthorized: it is large, and a script without a signed-in person sent it.
        UnsupportedMediaType: it is large, and not ``multipart/form-data``.
        ServiceUnavailable: it is large, and too many others are being read.
    """
    view = current_app.view_functions.get(request.endpoint or "")
    limits: FormLimits = getattr(view, "form_limits", FormLimits())
    request.max_content_length, request.max_form_memory_size = _most_bytes(limits)
    if limits.is_file:
        request.max_form_parts = _FILE_FORM_PARTS
    _check_lengths(request.args, FormLimits(), BadRequest)
    if "HTTP_TRANSFER_ENCODING" in request.environ:
        raise BadRequest("Send the form with a Content-Length, not in chunks.")
    if (request.content_length or 0) > request.max_content_length:
        raise PayloadTooLarge
    if request.method == "POST" or request.content_length:
        try:
            check_origin()
            if (response := _turn_away_large(view)) is not None:
                return response
            with reading_body():
                _check_lengths(request.form, limits, ValidationFailed)
                _csrf.protect()
        except RequestEntityTooLarge:
            raise PayloadTooLarge from None
        except CSRFError:
            raise Forbidden(
                "other_site",
                "This form was open for too long, you have signed in or out since, or your browser "
                "blocks cookies. Go back, reload the page and send the form again.",
            ) from None
    return None


class FormLimits(NamedTuple):
    """The limits of a form; without arguments, the limits of an ordinary one.

    Attributes:
        others: the most bytes of all fields except ``field`` together.
        field: the one large field, if any.
        setting: the name of the setting with its most bytes.
        is_file: True if it is a file, which is not held in memory.
    """

    others: int = FORM_BYTES
    field: str = ""
    setting: str = ""
    is_file: bool = False


def with_form_limits(limits: FormLimits) -> Callable[[View], View]:
    """Decorate a view whose form has other limits than an ordinary one."""

    def decorate(view: View) -> View:
        view.form_limits = limits  # type: ignore[attr-defined]
        return view

    return decorate


def _most_bytes(limits: FormLimits) -> tuple[int, int]:
    """Return (the most bytes of the form, the most of them in memory)."""
    field_bytes = getattr(current_settings(), limits.setting) if limits.setting else 0
    most = limits.others + int(field_bytes)
    return most, limits.others + _PIECE_BYTES if limits.is_file else most


def _check_lengths(
    fields: MultiDict[str, str], limits: FormLimits, refusal: type[ApiError]
) -> None:
    """Reject fields that are too long, before anything looks at their texts.

    Raises:
        ApiError: a field is too long, as ``refusal``.
        PayloadTooLarge: the fields except the large one have too many characters together.
    """
    small_fields = [(name, text) for name, text in fields.items(multi=True) if name != limits.field]
    for name, text in small_fields:
        most = FIELD_LENGTHS.get(name, FIELD_LENGTH)
        if max(len(name), len(text)) > most:
            message = f"“{name[:50]}” has more than {most:,} characters. Shorten it and try again."
            headers = {"HX-Reswap": "none"}  # a script must not replace its form by the error
            raise refusal(
                message, details=[Detail(name[:50], message, "too_long")], headers=headers
            )
    if sum(len(text) for _, text in small_fields) > limits.others:
        raise PayloadTooLarge


def _turn_away_large(view: View | None) -> Any:
    """Return the response to a large form whose sender may not use the page, without reading it.

    A large form must have parts: werkzeug reads the other kind at once, and takes seconds for a few
    megabytes of empty fields.
    """
    if (request.content_length or 0) <= FORM_BYTES:
        return None
    turn_away = getattr(view, "turn_away", None)  # app.site.signed_in
    response = turn_away() if turn_away else None
    if response is None and request.mimetype != "multipart/form-data":
        raise UnsupportedMediaType("Send a form of this size as multipart/form-data.")
    return response


def check_origin() -> None:
    """Check the headers about the origin of a request, if it has them. Raises Forbidden.

    The instance's own origin is ``PUBLIC_URL``. Only where that is not set, as on a developer's
    machine, the host that the request names counts as well.
    """
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    settings = current_settings()
    own, named = _url_origin(settings.public_url), _url_origin(request.host_url)
    if site in (None, "same-origin", "none"):
        if origin in (None, own) or (origin == named and not settings.public_url_is_set):
            return
        if origin == named:
            raise Forbidden(
                "other_site",
                "This page was opened at an address other than the instance's own. "
                f"Open {own} and try again.",
            )
    message = "This request comes from another site. Open this site directly and try again."
    raise Forbidden("other_site", message)


def own_site_only(view: View) -> View:
    """Decorate a view that returns a file or data: requests from other sites are refused."""

    @wraps(view)
    def run(*args: Any, **arguments: Any) -> Any:
        check_origin()
        return view(*args, **arguments)

    return run


def csrf_field() -> Markup:
    """Return the hidden fields with the CSRF token and the account that the person works in."""
    field = Markup('<input type="hidden" name="{}" value="{}">')
    account_id = getattr(g.get("person"), "account_id", None)
    account = field.format("account", account_id) if account_id else ""
    return field.format("csrf_token", generate_csrf()) + account


def renew_form_secret() -> None:
    """Invalidate all loaded forms, and keep flashed messages."""
    messages = session.get("_flashes")
    session.clear()
    if messages:
        session["_flashes"] = messages


def _url_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
