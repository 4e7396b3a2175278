"""``/``, for strangers and others, and the first steps of a new account."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from flask import Response

from app.account.credentials.service import create_credential, valid_credentials
from app.account.members.service import list_members
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.http.urls import absolute_url
from app.pages.credentials.command import first_command
from app.pages.imports import words
from app.pages.second_factor.step_up import ask_again
from app.policy.permissions import expand_permissions, role_permissions
from app.policy.request_limits import PAGE_KEYS
from app.site.forms import count_post
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.sent_forms import check_not_sent_before, show_once
from app.site.signed_in import current_person, of_account
from app.usage.counters import project_total, read_counters

bp = PageBlueprint("start", __name__)

_KEY_NAME: Final = "First key"
_KEY_PERMISSIONS: Final = ("projects:write", "assets:write")


class Steps(NamedTuple):
    """The first steps of an account, and which of them are done."""

    has_projects: bool
    has_keys: bool
    has_colleagues: bool

    @property
    def number_done(self) -> int:
        return sum(self)


@bp.get("/")
def home() -> Response:
    """What Canopy is, for strangers; others are led to their projects."""
    person = current_person()
    if person is None:
        return page("welcome/stranger.html")
    if person.account_id is None:
        return redirect_to("/accounts")
    may_write = "projects:write" in expand_permissions(role_permissions(person.role))
    is_new = project_total(read_counters(person.account_id)) == 0
    return redirect_to("/welcome" if is_new and may_write else "/projects")


@bp.get("/welcome", of_account("projects:read"))
def welcome(principal: Principal) -> Response:
    """The first steps: a project, a key, a colleague."""
    return _welcome_page(principal)


@bp.post("/welcome/key", of_account("admin"))
def make_key(principal: Principal) -> Response:
    """Create an API key, which is shown once, in lines that work."""
    check_not_sent_before("revoke it and create another")
    count_post()
    ask_again()
    with transaction():
        _, secret = create_credential(
            principal.account_id,
            kind="api_key",
            name=_KEY_NAME,
            permissions=_KEY_PERMISSIONS,
            created_by=principal.user_id,
            most=PAGE_KEYS,
        )
    curl = first_command(secret, _KEY_PERMISSIONS)
    made = _welcome_page(principal, secret=secret, address=absolute_url(""), curl=curl)
    return show_once("/api-keys", made)


def _welcome_page(principal: Principal, **values: Any) -> Response:
    account_id = principal.account_id
    steps = Steps(
        project_total(read_counters(account_id)) > 0,
        bool(valid_credentials(account_id, "api_key")),
        len(list_members(account_id)) > 1,
    )
    formats = words.formats()
    return page("welcome/welcome.html", principal=principal, steps=steps, formats=formats, **values)
