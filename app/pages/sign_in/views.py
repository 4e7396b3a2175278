"""Pages for signing up, in and out, and for following emailed mailed_links."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from sqlalchemy.exc import IntegrityError

from app.auth.memberships import memberships_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.http.errors import RateLimited
from app.oauth.service import redirect_target
from app.pages.sign_in.forms import ConfirmForm, ForgotForm, LoginForm, RegisterForm, ResetForm
from app.people import auditing, mailed_links, service, sign_up
from app.people.passwords import check_password, count_sign_in_attempt, count_sign_up_attempt
from app.policy.people import RESET_LIFE, SIGN_UP_LIFE, TRIES
from app.site.forms import count_post, form_page
from app.site.pages import PageBlueprint, allow_form_action, instance, local_path, page, redirect_to
from app.site.passwords import with_passwords
from app.site.second_step import begin_sign_in, has_second_step
from app.site.signed_in import current_person, known_browser, sign_out, with_person

bp = PageBlueprint("people", __name__)


@bp.route("/register", methods=["GET", "POST"])
@with_person
def register() -> Any:
    """Sign up: a person and their first account."""
    if not sign_up.is_open():
        return page("sign_in/no_sign_up.html", 403)
    form = RegisterForm()
    if not (instance().password_sign_in and form.validate_on_submit()):
        return form_page("sign_in/register.html", form)
    with transaction():
        sign_up.request_sign_up(
            name=form.name.data,
            email=form.email.data,
            password=form.password.data,
            account_name=form.account_name.data,
            account_slug=form.account_slug.data or "",
        )
    return page("sign_in/mailed.html", email=form.email.data, kind="sign_up", life=SIGN_UP_LIFE)


@bp.get("/sign-up")
@bp.get("/signup")
def guessed_register() -> Response:
    """Lead to the page for signing up."""
    return redirect_to("/register")


@bp.route("/register/confirm/<token>", methods=["GET", "POST"])
@with_passwords
@with_person
def confirm(token: str) -> Any:
    """Finish signing up, with the chosen password."""
    if not sign_up.is_open():
        return page("sign_in/no_sign_up.html", 403)
    form, found = ConfirmForm(), sign_up.find_sign_up(token)
    if found is None:
        return page("sign_in/dead_link.html", 404, kind="sign_up")
    if form.validate_on_submit():
        try:
            with transaction():
                attempt = count_sign_up_attempt(token, found.password_hash)
        except RateLimited as error:
            form.rejection = error
        else:
            if check_password(attempt, form.password.data):
                return _finish_sign_up(token)
            form.password.errors = ["That is not the password you chose when signing up."]
    return form_page("sign_in/confirm.html", form, sign_up=found)


@bp.route("/login", methods=["GET", "POST"])
@with_person
def login() -> Any:
    """Sign in."""
    target = local_path(request.args.get("next"))
    form = LoginForm()
    if request.method == "GET" and current_person() is not None:
        return redirect_to(target)
    if address := redirect_target(target):
        allow_form_action(address)
    if instance().password_sign_in and form.validate_on_submit():
        try:
            with transaction():
                attempt = count_sign_in_attempt(form.email.data, known_browser())
        except RateLimited as error:
            form.rejection = error
        else:
            user_id = attempt.user_id
            if check_password(attempt, form.password.data) and user_id is not None:
                if not has_second_step(user_id):
                    service.record_sign_in(user_id)
                return _sign_in(target, user_id, _initial_account(user_id))
            with transaction():
                auditing.record_refused_sign_in(user_id, form.email.data)
            form.password.errors = ["Wrong email address or password."]
    return form_page("sign_in/login.html", form, target=target)


@bp.post("/logout")
def logout() -> Response:
    """Sign out in this browser."""
    person = current_person()
    if person is not None:
        with transaction():
            service.sign_out(person)
    return sign_out(redirect_to("/login", "You are signed out."))


@bp.route("/forgot-password", methods=["GET", "POST"])
@with_passwords
@with_person
def forgot_password() -> Any:
    """Request a password reset link by email."""
    form = ForgotForm()
    if not form.validate_on_submit():
        return form_page("sign_in/forgot.html", form)
    with transaction():
        mailed_links.request_reset(form.email.data)
    return page("sign_in/mailed.html", email=form.email.data, kind="reset", life=RESET_LIFE)


@bp.route("/reset-password/<token>", methods=["GET", "POST"])
@with_passwords
@with_person
def reset_password(token: str) -> Any:
    """Set a new password, from an emailed link."""
    found = mailed_links.find_link(mailed_links.RESET, token)
    if found is None:
        return page("sign_in/dead_link.html", 404, kind="reset")
    if not (found.is_registered or sign_up.is_open()):  # the link is from before it was closed
        return page("sign_in/no_sign_up.html", 403)
    form = ResetForm()
    form.known = (found.name, found.email)
    if not form.validate_on_submit():
        return form_page("sign_in/reset.html", form, email=found.email)
    if not service.reset_password(token, found, form.password.data, request.remote_addr or ""):
        db.session.rollback()
        return page("sign_in/dead_link.html", 404, kind="reset")
    message = "Password changed. You are signed out everywhere else."
    return _sign_in("/", found.id, _initial_account(found.id), message)


@bp.route("/verify-email/<token>", methods=["GET", "POST"])
@with_person
def verify_email(token: str) -> Any:
    """Verify an address, from an emailed link. Needs a POST, so link scanners verify nothing."""
    found = mailed_links.find_link(mailed_links.VERIFY, token)
    if found is None:
        return page("sign_in/dead_link.html", 404, kind="verify")
    if request.method == "GET":
        return page("sign_in/verify.html", email=found.email)
    count_post()
    if mailed_links.claim_link(mailed_links.VERIFY, token) is None:
        db.session.rollback()
        return page("sign_in/dead_link.html", 404, kind="verify")
    service.verify_address(found.id)
    db.session.commit()
    return redirect_to("/profile", "Your email address is confirmed.")


def _finish_sign_up(token: str) -> Response:
    for _ in range(TRIES):
        try:
            created = sign_up.finish_sign_up(token)
            if created is None:
                break
            person, account = created
            return _sign_in("/welcome", person.id, account.id, "Welcome. Your account is ready.")
        except IntegrityError:  # the address or the slug has just been taken
            db.session.rollback()
    db.session.rollback()
    return page("sign_in/dead_link.html", 404, kind="sign_up")


def _sign_in(target: str, user_id: str, account_id: str | None, message: str = "") -> Response:
    response = begin_sign_in(target, user_id, account_id, message)
    db.session.commit()
    return response


def _initial_account(user_id: str) -> str | None:
    """The person's first account by name: the last one used is not stored."""
    return next((row.id for row in memberships_of(user_id)), None)
