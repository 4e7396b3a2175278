"""Who belongs to the account, and inviting others."""

from __future__ import annotations

from flask import Response

from app.auth.principal import Principal
from app.dashboard.members.forms import InviteForm
from app.db.transactions import transaction
from app.http.errors import Conflict, Forbidden, ValidationFailed
from app.members.service import invite_member, list_members
from app.site.forms import form_page
from app.site.pages import PageBlueprint, redirect_to
from app.site.signed_in import of_account

bp = PageBlueprint("member_pages", __name__, section="/members")


@bp.get("/members")
@of_account("members:read")
def members(principal: Principal) -> Response:
    """The members of the account, and those who are invited."""
    return _page(principal, InviteForm(formdata=None))


@bp.post("/members/invite")
@of_account("members:write")
def invite(principal: Principal) -> Response:
    """Invite somebody by email, or send the invitation again."""
    form = InviteForm()
    if not form.validate_on_submit():
        return _page(principal, form)
    try:
        with transaction():
            invite_member(principal, email=form.email.data, role=form.role.data)
    except (Conflict, Forbidden, ValidationFailed) as error:
        details = [detail.message for detail in error.details]
        form.email.errors = details or [error.message]
        return _page(principal, form)
    return redirect_to("/members", f"An invitation is on its way to {form.email.data}.")


def _page(principal: Principal, form: InviteForm) -> Response:
    people = list_members(principal.account_id)
    return form_page("members_page/members.html", form, principal=principal, people=people)
