"""The settings of an account: its name, its second factor, its plan, and where its API is."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.account.lookup import read_account
from app.account.members.service import list_members
from app.account.service import rename_account
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.exports.account_export.responses import archive_response
from app.http.errors import Conflict, PreconditionFailed
from app.http.urls import absolute_url
from app.limits.plan_file import plan_of
from app.pages.second_factor.step_up import ask_again
from app.people.second_factor.requirement import (
    members_with_second_factor,
    require_second_factor,
    requirement_of,
)
from app.policy.deletion import DELETED_AFTER
from app.policy.plans import Plan
from app.policy.second_factor import DEFAULT_GRACE_DAYS, GRACE_DAYS
from app.site import formats
from app.site.form_fields import FormSchema, NameSchema, WholeNumber
from app.site.formats import pluralize
from app.site.forms import Draft, Unchanged, form_page, sent_draft
from app.site.pages import PageBlueprint, redirect_to
from app.site.signed_in import current_person, of_account

bp = PageBlueprint("settings", __name__, section="/settings")

_LEAST, _MOST = GRACE_DAYS


class RequirementSchema(FormSchema):
    grace_days = WholeNumber(_LEAST, _MOST, f"Must be a whole number from {_LEAST} to {_MOST}.")


@bp.get("/settings", of_account("admin"))
def settings(principal: Principal) -> Response:
    """The account's name, plan and addresses."""
    return _settings_page(principal)


@bp.post("/settings", of_account("admin"))
def rename(principal: Principal) -> Response:
    """Rename the account, unless somebody else has renamed it since the page was loaded."""
    draft = sent_draft(NameSchema())
    if not draft.values:
        return _settings_page(principal, name_draft=draft)
    is_unchanged = Unchanged(name=request.form.get("was_name"))
    try:
        with transaction():
            record = rename_account(principal, draft.values, is_unchanged)
    except PreconditionFailed as error:
        draft.errors["name"] = [
            "Somebody has renamed the account since you opened the page. Nothing of yours is saved "
            "yet: save again to replace the new name."
        ]
        return _settings_page(principal, error.status, name_draft=draft)
    return redirect_to("/settings", f"The account is called {record['name']} now.")


@bp.post("/settings/second-factor", of_account("admin", owners_only=True))
def require(principal: Principal) -> Response:
    """Require a second factor of the members, or no longer; for owners."""
    is_required = request.form.get("required") != "no"
    draft = sent_draft(RequirementSchema())
    if is_required and not draft.values:
        return _settings_page(principal, factor_draft=draft)
    ask_again()
    days = draft.values["grace_days"] if is_required else None
    with draft.refusals(), transaction():
        require_second_factor(principal, days)
    if draft.rejection:
        return _settings_page(principal, factor_draft=draft)
    return redirect_to("/settings", _requirement_in_words(days))


@bp.post("/settings/export", of_account("admin"))
def export(principal: Principal) -> Response:
    """The archive with all data of the account."""
    return archive_response(principal.account_id)


def _requirement_in_words(days: int | None) -> str:
    """Return the message after a change of the grace period; None if nothing is required."""
    if days is None:
        return "Members no longer need a second factor."
    if days == 0:
        return "Members need a second factor now."
    return f"Members have {pluralize(days, 'day')} to turn on a second factor."


def _settings_page(principal: Principal, status: int | None = None, **rejected: Draft) -> Response:
    """Return the page with both forms, one of which may have been rejected."""
    account = read_account(principal.account_id)
    requirement = requirement_of(principal.account_id)
    days = DEFAULT_GRACE_DAYS if requirement.grace_days is None else requirement.grace_days
    drafts = {
        "name_draft": Draft({"name": account["name"]}),
        "factor_draft": Draft({"grace_days": days}),
    }
    draft = next(iter(rejected.values()), Draft())
    return form_page(
        "settings/settings.html",
        draft,
        status,
        **drafts | rejected,
        lacks_own=isinstance(draft.rejection, Conflict),
        grace_days=GRACE_DAYS,
        account=account,
        limits=limits_in_words(plan_of(principal.plan)),
        addresses=[
            ("api", "REST API", absolute_url("/v1")),
            ("ogc", "OGC API Features, for QGIS and other GIS programs", absolute_url("/ogc")),
        ],
        requirement=requirement,
        deleted_after=DELETED_AFTER,
        **_member_counts(principal.account_id),
    )


def _member_counts(account_id: str) -> dict[str, Any]:
    """Return, for owners, the number of members, and of those without a second factor."""
    person = current_person()
    if person is None or person.role != "owner":
        return {"is_owner": False}
    joined = {member["id"] for member in list_members(account_id) if member["joined_at"]}
    lacking = joined - members_with_second_factor(account_id)
    return {"is_owner": True, "members": len(joined), "lacking": len(lacking)}


def limits_in_words(plan: Plan) -> list[tuple[str, str]]:
    """Return the limits of a plan: ``("Members", "25, including invitations")``."""
    return [
        ("Members", _limit_text(plan.members, ", including invitations")),
        (
            "Area",
            "no limit"
            if plan.hectares is None
            else f"{formats.area(plan.hectares, trim=True)} in projects that are not archived",
        ),
        ("API requests", formats.sentence(plan.requests_in_words() or "no limit")),
        ("Chat", _limit_text(plan.chat_questions_per_day, " questions a day")),
    ]


def _limit_text(number: int | None, words: str) -> str:
    return "no limit" if number is None else f"{formats.number(number)}{words}"
