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
from app.pages.credentials.kinds import API_KEYS, SERVICE_TOKENS, CredentialKind
from app.pages.credentials.listing import REQUEST_DAYS, credentials_of
from app.pages.project_choice import offer_projects, projects_by_id
from app.pages.second_factor.step_up import ask_again
from app.policy.permissions import OF_PROJECTS, PERMISSIONS
from app.policy.request_limits import PAGE_KEYS, PROJECTS_OF_CREDENTIAL
from app.site.forms import count_post, form_page
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.sent_forms import check_not_sent_before, show_once
from app.site.signed_in import of_account

View = Callable[..., Response]

_OTHER_PROJECTS: Final = 50  # in the form, besides the chosen ones
_NAMED_PROJECTS: Final = 3  # on the page that shows the secret


def list_page(principal: Principal, kind: CredentialKind) -> Response:
    """The keys or tokens of the account."""
    return page(
        "credentials/list.html",
        kind=kind,
        credentials=credentials_of(principal.account_id, kind),
        words=PERMISSIONS,
        days=REQUEST_DAYS,
    )


def new_page(principal: Principal, kind: CredentialKind) -> Response:
    """The form to create one; an address can fill it in."""
    fields = MultiDict(request.args)
    if "project_id" in fields:
        fields.setlist("project_ids", fields.getlist("project_id"))
        fields.setdefault("scope", "some")
    return _form_page(principal, kind, CredentialDraft.new(fields))


def create(principal: Principal, kind: CredentialKind) -> Response:
    """Create one, and show its secret once."""
    check_not_sent_before("revoke it and create another")
    draft = CredentialDraft.sent(request.form)
    if "is_search" in request.form:
        return _form_page(principal, kind, draft)
    with draft.refusals():
        count_post()
        arguments = draft.arguments(expires=kind.expires)
        ask_again()
        with transaction():
            row, secret = create_credential(
                principal.account_id,
                kind=kind.kind,
                created_by=principal.user_id,
                most=PAGE_KEYS,
                **arguments,
            )
            names = ("name", "permissions", "project_ids", "expires_at")
            credential = {name: getattr(row, name) for name in names}
    if draft.has_problem:
        return _form_page(principal, kind, draft)
    made = page(
        "credentials/made.html",
        kind=kind,
        made=credential,
        projects=list(
            projects_by_id(principal.account_id, credential["project_ids"] or []).values()
        ),
        shown_projects=_NAMED_PROJECTS,
        secret=secret,
        address=absolute_url(""),
        curl=first_command(secret, credential["permissions"]),
        words=PERMISSIONS,
    )
    return show_once(kind.path, made)


def project_choices(principal: Principal, kind: CredentialKind) -> Response:
    """The projects that a search finds, for a script."""
    return page("credentials/projects.html", kind=kind, **_project_choices(principal, request.args))


def revoke(principal: Principal, kind: CredentialKind, credential_id: str) -> Response:
    """Revoke one at once."""
    with transaction():
        if not revoke_credential(principal.account_id, kind.kind, credential_id):
            raise NotFound(f"This {kind.title} does not exist, or was revoked before.")
    return redirect_to(kind.path, "Revoked. Whatever used it no longer has access.")


def _form_page(principal: Principal, kind: CredentialKind, draft: CredentialDraft) -> Response:
    return form_page(
        "credentials/new.html",
        draft,
        scopes=SCOPES,
        lives=LIVES,
        kind=kind,
        words=PERMISSIONS,
        of_projects=OF_PROJECTS,
        most=PROJECTS_OF_CREDENTIAL,
        **_project_choices(principal, request.values, draft.texts["project_ids"]),
    )


def _project_choices(
    principal: Principal, values: Any, chosen_ids: list[str] | None = None
) -> dict[str, Any]:
    """Return the chosen projects, and others that match the search, as variables of templates."""
    ids = values.getlist("project_ids") if chosen_ids is None else chosen_ids
    search = values.get("search", "").strip()
    ids = ids[:PROJECTS_OF_CREDENTIAL]
    offered = offer_projects(principal.account_id, search, ids, _OTHER_PROJECTS)
    return {"offered": offered, "search": search}


def _pages_of(kind: CredentialKind) -> PageBlueprint:
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
