"""Applications that have access on behalf of the signed-in person, and registering new ones."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request

from app.auth.principal import Principal
from app.auth.sessions import SignedIn, principal_of
from app.db.transactions import transaction
from app.http.errors import Detail, Forbidden, RateLimited, ValidationFailed
from app.oauth.applications.people import use_of_applications
from app.oauth.applications.service import application_record, create_application, list_applications
from app.oauth.consents import list_consents, revoke_consent
from app.pages.applications.first_steps import first_steps
from app.pages.applications.forms import KINDS, ApplicationDraft
from app.pages.second_factor.step_up import ask_again
from app.policy.oauth import APPLICATIONS_PER_ACCOUNT, REDIRECT_URIS
from app.policy.permissions import SCOPES
from app.site.forms import count_post, form_page
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.sent_forms import sent_before, show_once
from app.site.signed_in import of_account, signed_in

bp = PageBlueprint("application_pages", __name__, section="/applications")

_NEW: Final = "/applications/new"


@bp.get("/applications")
@signed_in
def applications(person: SignedIn) -> Response:
    """List the applications that have access on behalf of the signed-in person, and to admins
    those that the account has registered."""
    values: dict[str, Any] = {"may_register": False}
    if person.account_id and not person.is_overdue and principal_of(person).may("admin"):
        values = {
            "may_register": True,
            "registered": list_applications(person.account_id),
            "use": use_of_applications(person.account_id),
            "most": APPLICATIONS_PER_ACCOUNT,
        }
    consents = list_consents(person.user_id)
    template = "applications/applications.html"
    return page(template, consents=consents, words=SCOPES, **values)


@bp.post("/applications/end")
@signed_in
def end_access(person: SignedIn) -> Response:
    """Revoke the access of an application."""
    form = request.form
    with transaction():
        was_revoked = revoke_consent(
            person.user_id, form.get("account_id", ""), form.get("application_id", "")
        )
    message = "Access revoked." if was_revoked else "It had no access."
    return redirect_to("/applications", message)


@bp.get(_NEW)
@of_account("admin")
def new_application(_: Principal) -> Response:
    """The form that registers an application."""
    return _new_page(ApplicationDraft({"kind": "secret"}))


@bp.post(_NEW)
@of_account("admin")
def register(principal: Principal) -> Response:
    """Register an application, and show its secret once with what a developer begins with."""
    if (response := sent_before("rotate it")) is not None:
        return response
    draft = ApplicationDraft.sent(request.form)
    try:
        count_post()
        if draft.texts["kind"] not in KINDS:
            raise ValidationFailed(details=[Detail("kind", "Not a valid choice.")])
        if (question := ask_again()) is not None:
            return question
        with transaction():
            made, secret = create_application(
                principal.account_id, **draft.given(), public=draft.texts["kind"] == "public"
            )
            record = application_record(made)
    except (Forbidden, RateLimited, ValidationFailed) as error:
        draft.show(error)
        return _new_page(draft)
    return show_once(
        f"/applications/{record['client_id']}",
        "applications/registered.html",
        application=record,
        secret=secret,
        steps=first_steps(record, secret),
    )


def _new_page(draft: ApplicationDraft) -> Response:
    return form_page(
        "applications/new.html", draft, kinds=KINDS, words=SCOPES, most_uris=REDIRECT_URIS
    )
