"""/v1/account/members."""

from __future__ import annotations

from typing import Any

from flask import Response
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import BaseConverter

from app.account.members import invitations, service
from app.account.members.schemas import InvitationSchema, MemberSchema, MemberUpdateSchema
from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.immutable import check_fixed
from app.api.schemas import single_of, whole_of
from app.auth.principal import Principal
from app.http.etags import IfMatch

bp = ApiBlueprint("members", "/v1/account/members", "The people of the account and their roles.")
_ONE = "/<member:member_id>"


class MemberId(BaseConverter):
    """The id of a member in a path: any text but the name of the operation that invites."""

    regex = r"(?!invite\Z)[^/]+"
    part_isolating = True


def _add_converter(state: BlueprintSetupState) -> None:
    state.app.url_map.converters["member"] = MemberId


bp.record_once(_add_converter)


@bp.operation("GET", needs="members:read", gives=(200, whole_of(MemberSchema)))
def list_members(principal: Principal) -> Response:
    """List members and invited people."""
    return envelope.complete_list(service.list_members(principal.account_id))


@bp.operation(f"GET {_ONE}", needs="members:read", gives=(200, single_of(MemberSchema)))
def read_member(principal: Principal, member_id: str) -> Response:
    """Read a member."""
    return envelope.record_response(service.read_member(principal.account_id, member_id))


@bp.operation(
    "POST /invite",
    needs="members:write",
    takes=InvitationSchema,
    gives=(201, single_of(MemberSchema)),
    conflicts=True,
)
def invite_member(principal: Principal, values: dict[str, Any]) -> Response:
    """Invite a person by email, or resend an invitation.

    The person gets an email with a link, and becomes a member when they accept. If you invite
    someone who has not accepted yet, a new email is sent.
    """
    record = invitations.invite_member(principal, **values)
    location = f"/v1/account/members/{record['id']}"
    return envelope.record_response(record, status=201, location=location)


@bp.operation(
    f"PUT {_ONE}",
    needs="members:write",
    precheck=service.check_member,
    takes=MemberUpdateSchema,
    gives=(200, single_of(MemberSchema)),
    conflicts=True,
    conditional=True,
)
def update_member(
    principal: Principal, values: dict[str, Any], member_id: str, if_match: IfMatch
) -> Response:
    """Change a member's role."""
    name = service.read_member(principal.account_id, member_id)["name"]
    role = check_fixed(values, id=member_id, name=name).get("role")
    record = service.change_role(principal, member_id, role, if_match)
    return envelope.record_response(record)


@bp.operation(
    f"DELETE {_ONE}",
    needs="members:write",
    precheck=service.check_member,
    gives=(204, None),
    conflicts=True,
    conditional=True,
)
def remove_member(principal: Principal, member_id: str, if_match: IfMatch) -> Response:
    """Remove a member, or withdraw an invitation."""
    service.remove_member(principal, member_id, if_match)
    return envelope.empty_response()
