"""The settings of an account: its name, its second factor, its plan, and where its API is."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.account.lookup import read_account
from app.account.members.service import list_members
from app.account.service import rename_account
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.exports.account_export.responses import file_response
from app.exports.account_export.service import record_export
from app.http.errors import Conflict, PreconditionFailed
from app.http.urls import absolute_url
from app.limits.plan_file import plan_of
from app.pages.second_factor.step_up import ask_again
from app.pages.settings.forms import AccountNameForm, RequirementForm
from app.pages.settings.limits import limits_in_words
from app.people.second_factor.requirement import (
    members_with_second_factor,
    require_second_factor,
    requirement_of,
)
from app.policy.deletion import DELETED_AFTER
from app.policy.second_factor import DEFAULT_GRACE_DAYS
from app.site.forms import PageForm, Unchanged, form_page
from app.site.pages import PageBlueprint, redirect_to
from app.site.signed_in import current_person, of_account

bp = PageBlueprint("settings", __name__, section="/settings")


@bp.get("/settings")
@of_account("admin")
def settings(principal: Principal) -> Response:
    """The account's name, plan and addresses."""
    return _page(principal, None)


@bp.post("/settings")
@of_account("admin")
def rename(principal: Principal) -> Response:
    """Rename the account, unless somebody else has renamed it since the page was loaded."""
    form = AccountNameForm()
    if not form.validate_on_submit():
        return _page(principal, form)
    shown = Unchanged(name=request.form.get("was_name"))
    try:
        with transaction():
            record = rename_account(principal, {"name": form.name.data}, shown)
    except PreconditionFailed as error:
        form.name.errors = [
            "Somebody has renamed the account since you opened the page. Nothing of yours is saved "
            "yet: save again to replace the new name."
        ]
        return _page(principal, form, error.status)
    return redirect_to("/settings", f"The account is called {record['name']} now.")


@bp.post("/settings/second-factor")
@of_account("admin", owners_only=True)
def require(principal: Principal) -> Response:
    """Require a second factor of the members, or no longer; for owners."""
    form = RequirementForm()
    is_required = form.required.data != "no"
    if is_required and not form.validate_on_submit():
        return _page(principal, form)
    if (question := ask_again()) is not None:
        return question
    days = form.grace_days.data if is_required else None
    try:
        with transaction():
            require_second_factor(principal, days)
    except Conflict as error:
        form.rejection = error
        return _page(principal, form)
    return redirect_to("/settings", _requirement_in_words(days))


@bp.post("/settings/export")
@of_account("admin")
def export(principal: Principal) -> Response:
    """The archive with everything that the account has."""

    def record() -> None:
        with transaction():
            record_export(principal.account_id, principal.account_name)

    return file_response(principal.account_id, record)


def _requirement_in_words(days: int | None) -> str:
    """What is said after a change; None: no second factor is required."""
    if days is None:
        return "Members no longer need a second factor."
    if days == 0:
        return "Members need a second factor now."
    return f"Members have {days} {'day' if days == 1 else 'days'} to turn on a second factor."


def _is_owner() -> bool:
    person = current_person()
    return person is not None and person.role == "owner"


def _page(principal: Principal, form: PageForm | None, status: int | None = None) -> Response:
    """The page with the form that was sent, if one was rejected."""
    account = read_account(principal.account_id)
    name_form = AccountNameForm(formdata=None, name=account["name"])
    requirement = requirement_of(principal.account_id)
    days = DEFAULT_GRACE_DAYS if requirement.grace_days is None else requirement.grace_days
    factor_form = RequirementForm(formdata=None, grace_days=days)
    return form_page(
        "settings/settings.html",
        form or name_form,
        status,
        name_form=form if isinstance(form, AccountNameForm) else name_form,
        factor_form=form if isinstance(form, RequirementForm) else factor_form,
        lacks_own=form is not None and isinstance(form.rejection, Conflict),
        account=account,
        limits=limits_in_words(plan_of(principal.plan)),
        addresses=[
            ("api", "REST API", absolute_url("/v1")),
            ("ogc", "OGC API Features, for QGIS and other GIS programs", absolute_url("/ogc")),
        ],
        requirement=requirement,
        deleted_after=DELETED_AFTER,
        **_members(principal.account_id),
    )


def _members(account_id: str) -> dict[str, Any]:
    """What owners see: how many members there are, and how many have no second factor."""
    if not _is_owner():
        return {"is_owner": False}
    joined = {each["id"] for each in list_members(account_id) if each["joined_at"]}
    having = members_with_second_factor(account_id)
    return {"is_owner": True, "members": len(joined), "lacking": len(joined - having)}
