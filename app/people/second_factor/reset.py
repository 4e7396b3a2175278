"""Resetting the second factor of somebody who has lost it and their recovery codes.

An owner may do it for people who belong only to accounts that the owner owns, and who are not
operators: nobody gets into another owner's account that way, or into the instance. The operator of
the instance may do it for everybody. Whoever resets it still needs the person's password to sign in
as them.
"""

from __future__ import annotations

from sqlalchemy import bindparam, select

from app.auth.memberships import check_owner, memberships_of, role_in
from app.auth.principal import Principal
from app.auth.sessions import end_sessions
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict, Forbidden, NotFound
from app.models import User
from app.people.second_factor.changes import delete_second_factor
from app.people.second_factor.reporting import report_change
from app.policy.permissions import OWNER
from app.values.command_name import canopy_command

_ELSEWHERE = (
    "They also belong to an account that you do not own. Ask whoever runs this instance "
    f"({canopy_command()} user reset-second-factor)."
)
_OPERATOR = (
    "They are an operator of this instance. Ask whoever runs it "
    f"({canopy_command()} user reset-second-factor)."
)
_HAS_NONE = "They have no second factor."
_OPERATOR_SINCE = CompiledQuery(select(User.operator_since).where(User.id == bindparam("user_id")))


def reset_problem(owner_id: str, user_id: str) -> str | None:
    """The reason why an owner cannot reset a person's second factor, as a sentence, or None."""
    if owner_id == user_id:
        return "Turn off your own second factor in your profile."
    owned = {row.id for row in memberships_of(owner_id) if row.role == OWNER}
    if any(row.id not in owned for row in memberships_of(user_id)):
        return _ELSEWHERE
    return None if _OPERATOR_SINCE.scalar(user_id=user_id) is None else _OPERATOR


def reset_member(principal: Principal, member_id: str) -> str:
    """Reset the second factor of a member, end their sessions and notify them by mail. Returns the
    member's name.

    Raises:
        Forbidden: the caller is not an owner, or ``reset_problem`` gives a reason.
        NotFound: the person is not a member.
        Conflict: the person has no second factor.
    """
    person = db.session.get(User, member_id, with_for_update={"key_share": True})
    check_owner(principal)
    if person is None or role_in(principal.account_id, member_id) is None:
        raise NotFound("This person does not belong to the account.")
    if problem := reset_problem(principal.user_id, member_id):
        raise Forbidden("role", problem)
    owner = db.session.get_one(User, principal.user_id)
    _reset_factors(person, principal, owner.name)
    return person.name


def reset_by_operator(user_id: str) -> None:
    """Reset the second factor of a person as the operator of the instance.

    Raises:
        Conflict: the person has no second factor.
    """
    person = db.session.get_one(User, user_id, with_for_update={"key_share": True})
    _reset_factors(person)


def _reset_factors(person: User, principal: Principal | None = None, by_name: str = "") -> None:
    if person.second_factor_since is None:
        raise Conflict("no_second_factor", "second_factor", _HAS_NONE)
    delete_second_factor(person)
    end_sessions(person.id)
    report_change(person, "reset", address="", principal=principal, by_name=by_name)
