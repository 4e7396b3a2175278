"""Asking a signed-in person again, before something that could hand over the account.

A view asks after its form was found right and before it does what it is for::

    if (question := ask_again()) is not None:
        return question

The question is a page of its own, which carries the fields of the form along. Answered rightly, it
sends them to the same view, which goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from flask import Response, current_app, g, request

from app.auth.sessions import SignedIn, confirm_session
from app.db.transactions import transaction
from app.http.errors import Forbidden, RateLimited
from app.pages.second_factor.prompt import FIELDS, factor_draft, submitted_factor, ways_of
from app.people.passwords import check_password, count_own_attempt, has_password
from app.people.second_factor.challenges import Purpose
from app.people.second_factor.checking import check_factor, count_own_check, refuse_factor
from app.policy.second_factor import CONFIRMED_FOR
from app.site.forms import Draft, form_page
from app.site.pages import instance, page
from app.site.signed_in import current_person, is_from_script
from app.values import clock

_PASSWORD: Final = "confirm_password"  # noqa: S105 - a field
# Fields that the question does not carry along: its own, and a password, which no page shows again.
_NOT_CARRIED: Final = frozenset(
    {"csrf_token", "password", "new_password", _PASSWORD, *FIELDS.values()}
)


def ask_again(*, password: bool = False) -> Response | None:
    """The page that asks the signed-in person for their second factor; None: they have given it in
    this session within the last minutes, or have none.

    Args:
        password: whether somebody without a second factor is asked for their password instead or,
            having none that they can use, to sign in again.
    """
    person = current_person()
    if person is None or _is_confirmed(person):
        return None
    if person.has_second_factor:
        return _ask_for_factor(person)
    if not password:
        return None
    if instance().password_sign_in and has_password(person.user_id):
        return _ask_for_password(person)
    _refuse_scripts()
    return page("second_factor/sign_in_again.html", life=CONFIRMED_FOR)


def asks_for_factor(person: SignedIn) -> bool:
    """Return whether ``ask_again`` would ask a person for their second factor now."""
    return person.has_second_factor and not _is_confirmed(person)


def _is_confirmed(person: SignedIn) -> bool:
    at = person.confirmed_at
    return at is not None and clock.now() - at < CONFIRMED_FOR


def _ask_for_factor(person: SignedIn) -> Response | None:
    purpose, factor = Purpose("confirm", person.user_id, person.session_id), submitted_factor()
    if factor is None or not factor.value:
        return _page(factor_draft(factor), **ways_of(purpose))
    try:
        with transaction():
            keys = count_own_check(person.user_id, factor)
    except RateLimited as error:
        return _page(factor_draft(rejection=error), **ways_of(purpose))
    with transaction():
        is_right = check_factor(purpose, factor, keys, request.remote_addr or "")
        if is_right:
            _confirm(person)
        else:
            refuse_factor(person.user_id, person.email, keys, request.remote_addr or "")
    return None if is_right else _page(factor_draft(factor), **ways_of(purpose))


def _ask_for_password(person: SignedIn) -> Response | None:
    sent, draft = request.form.get(_PASSWORD), Draft()
    if sent:
        try:
            with transaction():
                attempt = count_own_attempt(person.user_id)
        except RateLimited as error:
            draft.rejection = error
        else:
            with transaction():
                is_right = check_password(attempt, sent)
                if is_right:
                    _confirm(person)
            if is_right:
                return None
            draft.errors[_PASSWORD] = ["That is not your current password."]
    elif sent is not None:
        draft.errors[_PASSWORD] = ["Enter your password."]
    return _page(draft, by_password=True, email=person.email)


def _confirm(person: SignedIn) -> None:
    """Note it for the session, and for the rest of this request."""
    confirm_session(person.session_id)
    g.person = replace(person, confirmed_at=clock.now())


def _page(draft: Draft, **values: Any) -> Response:
    """The question, with the fields of the form that it is asked before."""
    _refuse_scripts()
    fields = [pair for pair in request.form.items(multi=True) if pair[0] not in _NOT_CARRIED]
    values |= {"carried": fields, "action": _own_url(), "back": _page_before()}
    return form_page("second_factor/confirm.html", draft, **values)


def _page_before() -> str:
    """The URL of the page that the form stands on; empty while signing in, which has none."""
    path, rule = request.path, str(request.url_rule)
    if path.startswith("/login/"):
        return ""
    # Rules are compared, as /members/invite is no page but looks like one, /members/<member_id>.
    pages = {
        str(each) for each in current_app.url_map.iter_rules() if "GET" in (each.methods or ())
    }
    while path and rule not in pages:
        path, rule = path.rpartition("/")[0], rule.rpartition("/")[0]
    return _own_url() if path == request.path else path


def _own_url() -> str:
    """The path and query of the current request, unchanged."""
    return request.full_path if request.query_string else request.path


def _refuse_scripts() -> None:
    """Raises Forbidden for a script, which cannot use a page."""
    if is_from_script():
        raise Forbidden("Confirm that it is you: reload the page and send the form again.")
