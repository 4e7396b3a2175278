"""Applications with access on behalf of the signed-in person, and applications of the account, with
their secrets and the people who use them."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request

from app.auth.principal import Principal
from app.auth.sessions import SignedIn, principal_of
from app.db.transactions import transaction
from app.http.errors import Conflict, InvalidField, NotFound
from app.oauth.applications.client_secrets import end_former_secret, rotate_secret
from app.oauth.applications.people import (
    ApplicationUse,
    GrantedScopes,
    people_of_account,
    use_of_applications,
)
from app.oauth.applications.service import (
    create_application,
    delete_application,
    find_application,
    list_applications,
    update_application,
)
from app.oauth.applications.validation import check_application
from app.oauth.consents import list_consents, revoke_consent
from app.pages.applications.first_steps import first_steps
from app.pages.applications.forms import KINDS, ApplicationDraft, RotateSchema
from app.pages.second_factor.step_up import ask_again
from app.policy.deliveries import OVERLAP_HOURS_DEFAULT
from app.policy.oauth import APPLICATIONS_PER_ACCOUNT, REDIRECT_URIS
from app.policy.permissions import SCOPES
from app.site.forms import Draft, count_post, form_page, sent_draft
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.sent_forms import check_not_sent_before, show_once
from app.site.signed_in import of_account, signed_in

bp = PageBlueprint("application_pages", __name__, section="/applications")

_NEW: Final = "/applications/new"
_ONE: Final = "/applications/<app_id>"


@bp.get("/applications", signed_in)
def applications(person: SignedIn) -> Response:
    """List the applications with access on behalf of the signed-in person, and for admins those of
    the account."""
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


@bp.post("/applications/end", signed_in)
def end_access(person: SignedIn) -> Response:
    """Revoke the access of an application."""
    form = request.form
    with transaction():
        was_revoked = revoke_consent(
            person.user_id, form.get("account_id", ""), form.get("application_id", "")
        )
    message = "Access revoked." if was_revoked else "It had no access."
    return redirect_to("/applications", message)


@bp.get(_NEW, of_account("admin"))
def new_application(_: Principal) -> Response:
    """The form that registers an application."""
    return _new_page(ApplicationDraft({"kind": "secret"}))


@bp.post(_NEW, of_account("admin"))
def register(principal: Principal) -> Response:
    """Register an application, and show its secret once with the first steps."""
    check_not_sent_before("rotate it")
    draft = ApplicationDraft.sent(request.form)
    with draft.refusals():
        count_post()
        if draft.texts["kind"] not in KINDS:
            raise InvalidField("kind", "Not a valid choice.", "not_one_of")
        ask_again()
        with transaction():
            row, secret = create_application(
                principal.account_id, **draft.arguments(), public=draft.texts["kind"] == "public"
            )
            app_id = row.id
    if draft.has_problem:
        return _new_page(draft)
    record = _find_application(principal, app_id)
    made = _application_page(principal, record, secret=secret, is_new=True)
    return show_once(f"/applications/{app_id}", made)


@bp.get(_ONE, of_account("admin"))
def application(principal: Principal, app_id: str) -> Response:
    """One application that the account has registered."""
    return _application_page(principal, _find_application(principal, app_id))


@bp.post(_ONE, of_account("admin"))
def save(principal: Principal, app_id: str) -> Response:
    """Change an application.

    Removing a scope that people have granted needs an agreement, as it ends their access. Adding a
    redirect URI or a scope needs a second factor, as the codes of others may go there.
    """
    record = _find_application(principal, app_id)
    draft = ApplicationDraft.sent(request.form)
    values = draft.arguments()
    with draft.refusals():
        check_application(**values)
        if (ended := _ended_access(principal, record, draft)) is not None:
            return _application_page(principal, record, change=draft, ended=ended)
        if _adds_access(record, values):
            ask_again()
        with transaction():
            updated = update_application(principal.account_id, app_id, **values)
    if draft.has_problem:
        return _application_page(principal, record, change=draft)
    if updated is None:
        raise _not_found()
    message = "Saved. Those who had granted what you took away are asked again."
    return redirect_to(f"/applications/{app_id}", message if updated[1] else "Saved.")


@bp.post(f"{_ONE}/secret", of_account("admin"))
def rotate(principal: Principal, app_id: str) -> Response:
    """Give an application a new secret, which is shown once."""
    record = _find_application(principal, app_id)
    draft = sent_draft(RotateSchema())
    if not draft.values:
        return _application_page(principal, record, rotation=draft)
    ask_again()
    try:
        with transaction():
            rotated = rotate_secret(principal.account_id, app_id, **draft.values)
    except Conflict as error:
        return redirect_to(f"/applications/{app_id}", error.message)
    if rotated is None:
        raise _not_found()
    return _application_page(principal, _find_application(principal, app_id), secret=rotated.secret)


@bp.post(f"{_ONE}/former-secret/end", of_account("admin"))
def end_former(principal: Principal, app_id: str) -> Response:
    """Accept only the present secret of an application from now on."""
    with transaction():
        has_ended = end_former_secret(
            principal.account_id, _find_application(principal, app_id)["client_id"]
        )
    message = (
        "Only the present secret works now." if has_ended else "No former secret worked anymore."
    )
    return redirect_to(f"/applications/{app_id}", message)


@bp.post(f"{_ONE}/delete", of_account("admin"))
def delete(principal: Principal, app_id: str) -> Response:
    """Delete an application, and all access that people gave it."""
    record = _find_application(principal, app_id)
    with transaction():
        if not delete_application(principal.account_id, app_id):
            raise _not_found()
    return redirect_to("/applications", f"{record['name']} deleted.")


def _new_page(draft: ApplicationDraft) -> Response:
    return form_page(
        "applications/new.html", draft, kinds=KINDS, words=SCOPES, most_uris=REDIRECT_URIS
    )


def _find_application(principal: Principal, app_id: str) -> dict[str, Any]:
    """Return the record of an application of the account. Raises NotFound."""
    record = find_application(principal.account_id, app_id)
    if record is None:
        raise _not_found()
    return record


def _not_found() -> NotFound:
    return NotFound("This application does not exist, or was deleted.")


def _adds_access(record: dict[str, Any], values: dict[str, Any]) -> bool:
    """True if a redirect URI or a scope is added."""
    return any(set(values[name]) - set(record[name]) for name in ("redirect_uris", "scopes"))


def _ended_access(
    principal: Principal, record: dict[str, Any], draft: ApplicationDraft
) -> dict[str, Any] | None:
    """Return the removed scopes and the number of people who granted them; None if nobody has, or
    if the form agrees to the end of their access."""
    removed = [name for name in record["scopes"] if name not in draft.texts["scopes"]]
    scopes = " ".join(removed)
    people = GrantedScopes(principal.account_id, record["client_id"]).people(removed)
    if not people or draft.texts["end_access"] == scopes:
        return None
    draft.errors["end_access"] = ["Agree to the end of this access, or keep what was taken away."]
    return {"scopes": scopes, "words": [SCOPES[name] for name in removed], "people": people}


def _application_page(
    principal: Principal,
    record: dict[str, Any],
    *,
    change: Draft | None = None,
    rotation: Draft | None = None,
    **values: Any,
) -> Response:
    """Return the page with the form that was sent, or with the saved application."""
    client_id = record["client_id"]
    granted = GrantedScopes(principal.account_id, client_id)
    members, members_total = people_of_account(principal.account_id, client_id)
    overlap = {"overlap_hours": OVERLAP_HOURS_DEFAULT, "mark": record["secret_mark"]}
    return form_page(
        "applications/application.html",
        change or rotation or Draft(),
        application=record,
        change=change or ApplicationDraft.of(record),
        rotation=rotation or Draft(overlap),
        words=SCOPES,
        most_uris=REDIRECT_URIS,
        use=use_of_applications(principal.account_id).get(client_id, ApplicationUse(0, None)),
        members=members,
        members_total=members_total,
        people_with={name: granted.people([name]) for name in record["scopes"]},
        steps=first_steps(record, values.get("secret")),
        principal=principal,
        **values,
    )
