"""Rendering pages, and redirecting to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from flask import Blueprint, Flask, Response, current_app, flash, g, redirect, request
from flask import render_template as render
from flask_wtf.csrf import generate_csrf
from werkzeug.urls import iri_to_uri

from app.auth.memberships import Accounts, accounts_of
from app.http.etags import entity_tag
from app.http.middleware import NO_FORM_ACTION
from app.http.urls import AUTHORIZE
from app.policy.forms import INPUT_LENGTHS
from app.policy.people import PASSWORD_LENGTH
from app.policy.permissions import expand_permissions, role_permissions
from app.site import formats, protection, static_files
from app.site.account_pages import ACCOUNT_PAGES
from app.site.instance_state import shown_message, shown_outbound_off, shown_sign_up
from app.values.command_name import canopy_command
from app.values.text import display_text
from config import Settings

Access = Callable[[protection.View], protection.View]

_EXTENSION: Final = "canopy_instance"

_THEME: Final = "canopy_theme"  # a cookie that js/page.js writes
_THEMES: Final = ("light", "dark")

bp = Blueprint("site", __name__, template_folder="templates")  # shared templates


def init_app(app: Flask, settings: Settings) -> None:
    """Register templates, static files, and the variables and filters of templates."""
    app.jinja_options = {"finalize": _printable_value}
    app.register_blueprint(bp)
    static_files.init_app(app)
    app.extensions[_EXTENSION] = Instance.of(settings)
    app.context_processor(
        lambda: {
            "person": g.get("person"),
            "instance": instance(),
            "own_accounts": lambda: _menu_accounts().joined,
            "open_invitations": _open_invitations,
            "section": g.get("section"),
            "theme": theme(),
            "has_third_party": static_files.has_third_party,
            "account_pages": ACCOUNT_PAGES,
            "may": _person_may,
            "format_attributes": formats.document_attributes(),
            "instance_message": shown_message,
        }
    )
    app.jinja_env.globals |= {
        "LENGTHS": INPUT_LENGTHS,
        "csrf_field": protection.csrf_field,
        "PASSWORD_LENGTH": PASSWORD_LENGTH,
        "canopy": canopy_command(),
    }
    formats.init_app(app)
    app.add_template_filter(article)


def _printable_value(value: Any) -> Any:
    """Return the value of an expression in a template without control characters."""
    return display_text(value) if type(value) is str else value


class Instance(NamedTuple):
    """The facts about the instance that pages show."""

    name: str
    sign_up: str
    single_sign_on: str  # name of the provider; empty if there is none
    password_sign_in: bool
    sends_mail: bool  # also True on a developer's machine, with mails in a folder
    is_outbound_off: bool  # nothing is sent out: mails and deliveries are held
    saves_mail: bool  # there is no mail server, and mails are files
    support_email: str | None
    links: tuple[tuple[str, str], ...]  # text and address

    @staticmethod
    def of(settings: Settings) -> Instance:
        links = (
            ("Privacy", settings.privacy_url),
            ("Legal notice", settings.imprint_url),
        )
        return Instance(
            settings.instance_name,
            settings.sign_up,
            settings.oidc_name if settings.oidc_issuer else "",
            settings.password_sign_in,
            settings.mail_url is not None or not settings.production,
            settings.outbound == "off",
            settings.mail_url is None,
            settings.support_email,
            tuple((text, address) for text, address in links if address),
        )


def instance() -> Instance:
    """Return the facts about the instance."""
    facts: Instance = current_app.extensions[_EXTENSION]
    is_off = shown_outbound_off()
    return facts._replace(
        sign_up=shown_sign_up(),
        sends_mail=facts.sends_mail and not is_off,
        is_outbound_off=is_off,
    )


class PageBlueprint(Blueprint):
    """A blueprint of pages, protected against cross-site request forgery.

    Args:
        section: the path of the link in the navigation to these pages.
    """

    def __init__(self, name: str, import_name: str, *, section: str | None = None) -> None:
        super().__init__(name, import_name, template_folder="templates")
        self.before_request(protection.protect)
        self.before_request(lambda: setattr(g, "section", section))

    # The result of ``access`` has another type than the view.
    def route(self, rule: str, access: Access | None = None, **options: Any) -> Access:  # type: ignore[override]
        """Declare a view, and who may open it: ``access`` is a decorator of
        ``app.site.signed_in``."""
        declare = super().route(rule, **options)
        return declare if access is None else lambda view: declare(access(view))

    def get(self, rule: str, access: Access | None = None, **options: Any) -> Access:  # type: ignore[override]
        return self.route(rule, access, methods=["GET"], **options)

    def post(self, rule: str, access: Access | None = None, **options: Any) -> Access:  # type: ignore[override]
        return self.route(rule, access, methods=["POST"], **options)


def theme() -> str | None:
    """Return the theme of this browser, ``light`` or ``dark``; None for its system's."""
    chosen = request.cookies.get(_THEME)
    return chosen if chosen in _THEMES else None


def page(template: str, status: int = 200, **values: Any) -> Response:
    """Render a page. It is not cached, as it depends on the signed-in person."""
    response = Response(render(template, **values), status, content_type="text/html; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response


def revalidated(body: bytes, content_type: str, *, public: bool = False) -> Response:
    """Return a large response that browsers keep and revalidate each time.

    Args:
        public: let shared caches keep it as well.
    """
    response = Response(body, content_type=content_type)
    response.headers["ETag"] = entity_tag([body])
    response.headers["Cache-Control"] = "no-cache" if public else "private, no-cache"
    return response.make_conditional(request)  # type: ignore[return-value]


def live_part(template: str, **values: Any) -> Response:
    """Render a part of a page that js/live.js reloads, or return 304 if the page has it already.

    The page includes the same template. Tokens of forms differ each time, and do not count.
    """
    response = page(template, **values)
    text = response.get_data().replace(generate_csrf().encode(), b"")
    response.set_etag(hashlib.sha256(text).hexdigest()[:24])
    response.make_conditional(request.environ)
    return response


def redirect_to(path: str, message: str = "") -> Response:
    """Redirect to another page of this service, which shows the message."""
    if message:
        flash(message)
    response: Any = redirect(path, 303)
    if "HX-Request" in request.headers:  # fetch would follow by itself and take the page
        response = Response(status=200, headers={"HX-Redirect": iri_to_uri(path)})
    response.headers["Cache-Control"] = "no-store"
    return response  # type: ignore[no-any-return]


def article(role: str) -> str:
    """Return the article for a role: ``an`` for ``owner``."""
    return "an" if role[0] in "aeo" else "a"


def omit_form_action(target: str) -> None:
    """Leave ``form-action`` out of this page's policy if its forms lead to an application, as
    browsers apply it to redirects as well.

    Args:
        target: the local path that the forms lead to.
    """
    if target.partition("?")[0] == AUTHORIZE:
        request.environ[NO_FORM_ACTION] = True


def local_path(target: str | None) -> str:
    """Return the path to redirect to after signing in: the target if it is local, else ``/``."""
    if not target or not target.isprintable():
        return "/"
    is_external = "\\" in target or target.startswith("//") or not target.startswith("/")
    return "/" if is_external else target


def _menu_accounts() -> Accounts:
    """Return the accounts of the signed-in person for the menu; none on an error page, as the
    database may be down."""
    person = g.get("person")
    if person is None or g.get("is_failure"):
        return Accounts([], 0)
    if "accounts" not in g:
        g.accounts = accounts_of(person.user_id)
    accounts: Accounts = g.accounts
    return accounts


def _open_invitations() -> int:
    """Return the number of open invitations; 0 until the person's address is verified."""
    return _menu_accounts().invitations if g.person and g.person.is_verified else 0


def _person_may(permission: str) -> bool:
    """True if the role of the signed-in person includes a permission."""
    person = g.get("person")
    is_open = bool(person and person.role and not person.is_overdue)
    return is_open and permission in expand_permissions(role_permissions(person.role))
