"""The pages of API keys and service tokens: both kinds have the same views."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any, Final

from flask import Response, request
from werkzeug.datastructures import MultiDict

from app.account.credentials.service import create_credential, revoke_credential
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.http.errors import NotFound
from app.http.urls import absolute_url
from app.pages.credentials.command import first_command
from app.pages.credentials.forms import LIVES, SCOPES, CredentialDraft
from app.pages.credentials.kinds import API_KEYS, SERVICE_TOKENS, Kind
from app.pages.credentials.listing import REQUEST_DAYS, credentials_of
from app.pages.project_choice import find_projects, projects_by_id
from app.pages.second_factor.step_up import ask_again
from app.policy.permissions import OF_PROJECTS, PERMISSIONS
from app.policy.request_limits import PAGE_KEYS, PROJECTS_OF_CREDENTIAL
from app.site.forms import count_post, form_page
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.sent_forms import sent_before, show_once
from app.site.signed_in import of_account

View = Callable[..., Response]

_OFFERED: Final = 50  # projects in the form, besides those that are chosen
_NAMED: Final = 3  # projects of a key, on the page that shows it once


def list_page(principal: Principal, kind: Kind) -> Response:
    """The keys or tokens of the account."""
    found = credentials_of(principal.account_id, kind)
    return page(
        "credentials/list.html", kind=kind, found=found, words=PERMISSIONS, days=REQUEST_DAYS
    )


def new_page(principal: Principal, kind: Kind) -> Response:
    """The form to create one; an address can fill it in."""
    given = MultiDict(request.args)
    if "project_id" in given:
        given.setlist("project_ids", given.getlist("project_id"))
        given.setdefault("scope", "some")
    return _form_page(principal, kind, CredentialDraft.new(given))


def create(principal: Principal, kind: Kind) -> Response:
    """Create one, and show its secret once."""
    if (response := sent_before("revoke it and create another")) is not None:
        return response
    draft = CredentialDraft.sent(request.form)
    if "is_search" in request.form:
        return _form_page(principal, kind, draft)
    with draft.refusals():
        count_post()
        given = draft.given(expires=kind.expires)
        if (question := ask_again()) is not None:
            return question
        with transaction():
            made, secret = create_credential(
                principal.account_id,
                kind=kind.kind,
                created_by=principal.user_id,
                most=PAGE_KEYS,
                **given,
            )
            names = ("name", "permissions", "project_ids", "expires_at")
            shown = {name: getattr(made, name) for name in names}
    if draft.has_problem:
        return _form_page(principal, kind, draft)
    return show_once(
        kind.path,
        "credentials/made.html",
        kind=kind,
        made=shown,
        projects=list(projects_by_id(principal.account_id, shown["project_ids"] or []).values()),
        shown_projects=_NAMED,
        secret=secret,
        address=absolute_url(""),
        curl=first_command(secret, shown["permissions"]),
        words=PERMISSIONS,
    )


def project_choices(principal: Principal, kind: Kind) -> Response:
    """The projects that a search finds, for a script."""
    return page("credentials/projects.html", kind=kind, **_projects(principal, request.args))


def revoke(principal: Principal, kind: Kind, credential_id: str) -> Response:
    """Revoke one at once."""
    with transaction():
        if not revoke_credential(principal.account_id, kind.kind, credential_id):
            raise NotFound(f"This {kind.title} does not exist, or was revoked before.")
    return redirect_to(kind.path, "Revoked. Whatever used it no longer has access.")


def _form_page(principal: Principal, kind: Kind, draft: CredentialDraft) -> Response:
    return form_page(
        "credentials/new.html",
        draft,
        scopes=SCOPES,
        lives=LIVES,
        kind=kind,
        words=PERMISSIONS,
        of_projects=OF_PROJECTS,
        most=PROJECTS_OF_CREDENTIAL,
        **_projects(principal, request.values, draft.texts["project_ids"]),
    )


def _projects(
    principal: Principal, values: Any, chosen_ids: list[str] | None = None
) -> dict[str, Any]:
    """The projects that are chosen, and others that match what was searched for."""
    ids = values.getlist("project_ids") if chosen_ids is None else chosen_ids
    chosen = projects_by_id(principal.account_id, ids[:PROJECTS_OF_CREDENTIAL])
    search = values.get("search", "").strip()
    found, total, problem = find_projects(principal.account_id, search, _OFFERED)
    others = [each for each in found if each["id"] not in chosen]
    more = total - len(found)
    return {"chosen": chosen, "others": others, "more": more, "search": search, "wrong": problem}


def _pages_of(kind: Kind) -> PageBlueprint:
    """The pages of a kind."""
    bp = PageBlueprint(f"{kind.kind}_pages", __name__, section=kind.path)

    def add(path: str, method: str, view: View) -> None:
        endpoint = of_account("admin")(update_wrapper(partial(view, kind=kind), view))
        bp.add_url_rule(f"{kind.path}{path}", view.__name__, endpoint, methods=[method])

    add("", "GET", list_page)
    add("/new", "GET", new_page)
    add("/new", "POST", create)
    add("/projects", "GET", project_choices)
    add("/<credential_id>/revoke", "POST", revoke)
    return bp


api_keys = _pages_of(API_KEYS)
service_tokens = _pages_of(SERVICE_TOKENS)
