"""Asking a signed-in person again, before something that could hand over the account.

A view asks once its form is valid, before it changes anything::

    ask_again()

The question is another page, which carries the fields of the form along. With the right answer, it
sends them to the same view, which goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NoReturn

from flask import abort, current_app, g, request

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


def ask_again(*, password: bool = False) -> None:
    """End the request with a page that asks the signed-in person for their second factor, unless
    they have given it in this session within the last minutes, or have none.

    Args:
        password: ask people without a second factor for their password, or if they cannot use one,
            to sign in again.
    """
    person = current_person()
    if person is None or _is_confirmed(person):
        return
    if person.has_second_factor:
        _ask_for_factor(person)
    elif password and instance().password_sign_in and has_password(person.user_id):
        _ask_for_password(person)
    elif password:
        _refuse_scripts()
        abort(page("second_factor/sign_in_again.html", life=CONFIRMED_FOR))


def asks_for_factor(person: SignedIn) -> bool:
    """True if ``ask_again`` would ask a person for their second factor now."""
    return person.has_second_factor and not _is_confirmed(person)


def _is_confirmed(person: SignedIn) -> bool:
    moment = person.confirmed_at
    return moment is not None and clock.now() - moment < CONFIRMED_FOR


def _ask_for_factor(person: SignedIn) -> None:
    purpose, factor = Purpose("confirm", person.user_id, person.session_id), submitted_factor()
    if factor is None or not factor.value:
        _ask(factor_draft(factor), **ways_of(purpose))
    try:
        with transaction():
            keys = count_own_check(person.user_id, factor)
    except RateLimited as error:
        _ask(factor_draft(rejection=error), **ways_of(purpose))
    with transaction():
        is_right = check_factor(purpose, factor, keys, request.remote_addr or "")
        if is_right:
            _confirm_session(person)
        else:
            refuse_factor(person.user_id, person.email, keys, request.remote_addr or "")
    if not is_right:
        _ask(factor_draft(factor), **ways_of(purpose))


def _ask_for_password(person: SignedIn) -> None:
    password, draft = request.form.get(_PASSWORD), Draft()
    if password:
        with draft.refusals(), transaction():
            attempt = count_own_attempt(person.user_id)
        if not draft.has_problem:
            with transaction():
                is_right = check_password(attempt, password)
                if is_right:
                    _confirm_session(person)
            if is_right:
                return
            draft.errors[_PASSWORD] = ["That is not your current password."]
    elif password is not None:
        draft.errors[_PASSWORD] = ["Enter your password."]
    _ask(draft, by_password=True, email=person.email)


def _confirm_session(person: SignedIn) -> None:
    """Mark the session as confirmed, also for the rest of this request."""
    confirm_session(person.session_id)
    g.person = replace(person, confirmed_at=clock.now())


def _ask(draft: Draft, **values: Any) -> NoReturn:
    """End the request with the question, which has the fields of the current form."""
    _refuse_scripts()
    fields = [pair for pair in request.form.items(multi=True) if pair[0] not in _NOT_CARRIED]
    values |= {"carried": fields, "action": _own_url(), "back": _page_before()}
    abort(form_page("second_factor/confirm.html", draft, **values))


def _page_before() -> str:
    """Return the URL of the page with the current form; empty while signing in."""
    path, rule = request.path, str(request.url_rule)
    if path.startswith("/login/"):
        return ""
    # Rules are compared, as /members/invite is no page but matches /members/<member_id>.
    pages = {
        str(page) for page in current_app.url_map.iter_rules() if "GET" in (page.methods or ())
    }
    while path and rule not in pages:
        path, rule = path.rpartition("/")[0], rule.rpartition("/")[0]
    return _own_url() if path == request.path else path


def _own_url() -> str:
    """Return the path and query of the current request."""
    return request.full_path if request.query_string else request.path


def _refuse_scripts() -> None:
    """Raise Forbidden for a script, which cannot use a page."""
    if is_from_script():
        message = "Confirm that it is you: reload the page and send the form again."
        raise Forbidden("second_factor", message)
