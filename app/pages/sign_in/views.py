"""Pages for signing up, in and out, and for the links in emails."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from marshmallow import fields
from sqlalchemy.exc import IntegrityError

from app.auth.memberships import memberships_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.limits.counting import count_sign_up
from app.people import auditing, mailed_links, service, sign_up
from app.people.passwords import check_password, count_sign_in_attempt, count_sign_up_attempt
from app.policy.people import RESET_LIFE, SIGN_UP_LIFE, TRIES
from app.site.form_fields import AccountSchema, FormSchema, NameSchema, NewPassword
from app.site.forms import Draft, count_post, form_page, sent_draft
from app.site.pages import PageBlueprint, instance, local_path, omit_form_action, page, redirect_to
from app.site.second_step import begin_sign_in, has_second_step
from app.site.signed_in import current_person, known_browser, sign_out, with_passwords, with_person
from app.values.schemas import Email

bp = PageBlueprint("people", __name__)


class RegisterSchema(NameSchema, AccountSchema):
    email = Email(required=True)
    password = NewPassword("name", "email", "account_name")


class ConfirmSchema(FormSchema):
    password = fields.String(required=True)


class LoginSchema(FormSchema):
    email = Email(required=True)
    password = fields.String(required=True)


class ForgotSchema(FormSchema):
    email = Email(required=True)


class ResetSchema(FormSchema):
    password = NewPassword()


@bp.route("/register", with_person, methods=["GET", "POST"])
def register() -> Any:
    """Sign up: a person and their first account."""
    if not sign_up.is_open():
        return page("sign_in/no_sign_up.html", 403)
    draft = sent_draft(RegisterSchema()) if instance().password_sign_in else Draft()
    if not draft.values:
        return form_page("sign_in/register.html", draft)
    with draft.refusals(), transaction():
        count_sign_up()
        sign_up.request_sign_up(**draft.values)
    if draft.has_problem:
        return form_page("sign_in/register.html", draft)
    email = draft.values["email"]
    return page("sign_in/mailed.html", email=email, kind="sign_up", life=SIGN_UP_LIFE)


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
    pending = sign_up.find_sign_up(token)
    if pending is None:
        return page("sign_in/dead_link.html", 404, kind="sign_up")
    draft = sent_draft(ConfirmSchema())
    if draft.values:
        with draft.refusals(), transaction():
            attempt = count_sign_up_attempt(token, pending.password_hash)
    if draft.values:
        if check_password(attempt, draft.values["password"]):
            return _finish_sign_up(token)
        draft.errors["password"] = ["That is not the password you chose when signing up."]
    return form_page("sign_in/confirm.html", draft, sign_up=pending)


@bp.route("/login", with_person, methods=["GET", "POST"])
def login() -> Any:
    """Sign in."""
    target = local_path(request.args.get("next"))
    if request.method == "GET" and current_person() is not None:
        return redirect_to(target)
    omit_form_action(target)
    draft = sent_draft(LoginSchema()) if instance().password_sign_in else Draft()
    if draft.values:
        with draft.refusals(), transaction():
            attempt = count_sign_in_attempt(draft.values["email"], known_browser())
    if draft.values:
        user_id = attempt.user_id
        if check_password(attempt, draft.values["password"]) and user_id is not None:
            if not has_second_step(user_id):
                service.write_sign_in_entry(user_id)
            return _sign_in(target, user_id, _initial_account(user_id))
        with transaction():
            auditing.write_refused_sign_in(user_id, draft.values["email"])
        draft.errors["password"] = ["Wrong email address or password."]
    return form_page("sign_in/login.html", draft, target=target)


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
    draft = sent_draft(ForgotSchema())
    if not draft.values:
        return form_page("sign_in/forgot.html", draft)
    email = draft.values["email"]
    with transaction():
        mailed_links.request_reset(email)
    return page("sign_in/mailed.html", email=email, kind="reset", life=RESET_LIFE)


@bp.route("/reset-password/<token>", methods=["GET", "POST"])
@with_passwords
@with_person
def reset_password(token: str) -> Any:
    """Set a new password, from an emailed link."""
    user = mailed_links.find_link(mailed_links.RESET, token)
    if user is None:
        return page("sign_in/dead_link.html", 404, kind="reset")
    if not (user.is_registered or sign_up.is_open()):  # sign-up was closed since
        return page("sign_in/no_sign_up.html", 403)
    schema = ResetSchema()
    schema.guessable = (user.name, user.email)
    draft = sent_draft(schema)
    if not draft.values:
        return form_page("sign_in/reset.html", draft, email=user.email)
    password = draft.values["password"]
    if not service.reset_password(token, user, password, request.remote_addr or ""):
        db.session.rollback()
        return page("sign_in/dead_link.html", 404, kind="reset")
    message = "Password changed. You are signed out everywhere else."
    return _sign_in("/", user.id, _initial_account(user.id), message)


@bp.route("/verify-email/<token>", with_person, methods=["GET", "POST"])
def verify_email(token: str) -> Any:
    """Verify an address, from an emailed link. Needs a POST, so link scanners verify nothing."""
    user = mailed_links.find_link(mailed_links.VERIFY, token)
    if user is None:
        return page("sign_in/dead_link.html", 404, kind="verify")
    if request.method == "GET":
        return page("sign_in/verify.html", email=user.email)
    count_post()
    if mailed_links.claim_link(mailed_links.VERIFY, token) is None:
        db.session.rollback()
        return page("sign_in/dead_link.html", 404, kind="verify")
    service.verify_address(user.id)
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
    """Return the person's first account by name."""
    return next((row.id for row in memberships_of(user_id)), None)
