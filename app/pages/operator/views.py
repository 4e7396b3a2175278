"""The pages of operators."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request
from sqlalchemy.exc import NoResultFound

from app.audit.log.listing import list_latest
from app.audit.log.responses import file_response
from app.backgrounds.layers import allow_origins, sample_tiles, shown_layers
from app.db.transactions import transaction
from app.doctor.doctor_runs import read_progress, request_doctor_run
from app.http.errors import BadRequest, NotFound, ServiceUnavailable
from app.limits.plan_file import plans
from app.lists.logs import LOOKED_THROUGH
from app.mail.transport import MAIL_FOLDER
from app.pages.audit_log.filters import EntryFilters, read_export
from app.pages.audit_log.lines import line_of
from app.pages.audit_log.sentences import OF_INSTANCE
from app.pages.operator import accounts, changes, people
from app.pages.operator.forms import MessageSchema, PlanSchema
from app.pages.operator.listing import read_filters, read_list_page
from app.pages.operator.mails import list_mails
from app.pages.operator.overview import read_overview
from app.pages.second_factor.step_up import ask_again
from app.pages.usage.meters import usage_meters
from app.people import instance_operators
from app.policy.audit import INSTANCE
from app.policy.backgrounds import PRESETS
from app.policy.instance import ACCOUNTS_SHOWN, LISTED, MESSAGE_KINDS, MESSAGE_LENGTH, STATE_SECONDS
from app.policy.mails import MAILS_KEPT_FOR
from app.settings.current import current_settings
from app.settings.map_layers import preset_layer
from app.site.forms import Draft, form_page, sent_draft
from app.site.instance_state import forget_state, read_state
from app.site.pages import PageBlueprint, live_part, page, redirect_to
from app.site.signed_in import of_operator
from app.values.command_name import canopy_command

bp = PageBlueprint("operator", __name__, section="/operator")

_LOG: Final = "/operator/log"
# The message after each button.
_SIGN_UP: Final = {"yes": "Sign-up is closed.", "no": "Sign-up is open again."}
_BACKGROUND: Final = {"first": "{} is shown first.", "last": "{} is on.", "off": "{} is off."}


@bp.get("/operator", of_operator)
def overview() -> Response:
    """The instance: its contents, its health, and the settings of operators."""
    return _overview_page(Draft({"kind": next(iter(MESSAGE_KINDS))}))


@bp.post("/operator/sign-up", of_operator)
def set_sign_up() -> Response:
    """Close or open sign-up."""
    closed = request.form.get("closed")
    if closed not in _SIGN_UP:
        raise BadRequest("Choose whether sign-up is closed or open.")
    ask_again(password=True)
    with transaction():
        changes.set_sign_up(closed=closed == "yes")
    forget_state()
    return redirect_to("/operator", _SIGN_UP[closed])


@bp.post("/operator/message", of_operator)
def show_message() -> Response:
    """Show a message on all pages."""
    draft = sent_draft(MessageSchema())
    if not draft.values:
        return _overview_page(draft)
    ask_again(password=True)
    with transaction():
        changes.show_message(**draft.values)
    forget_state()
    notice = f"The message will appear on all pages within {STATE_SECONDS:.0f} seconds."
    return redirect_to("/operator#message", notice)


@bp.post("/operator/message/remove", of_operator)
def remove_message() -> Response:
    """Remove the message from all pages."""
    ask_again(password=True)
    with transaction():
        changes.remove_message()
    forget_state()
    return redirect_to("/operator#message", "The message has been removed.")


@bp.get("/operator/doctor", of_operator)
def doctor() -> Response:
    """The results of the last run of the doctor, and whether it is running now."""
    return live_part("operator/doctor.html", progress=read_progress())


@bp.post("/operator/doctor", of_operator)
def run_doctor() -> Response:
    """Have a worker run the doctor now."""
    if not request_doctor_run():
        raise ServiceUnavailable(
            "Valkey does not respond, so no job can be started. Run "
            f"{canopy_command()} doctor on the host."
        )
    return redirect_to("/operator#doctor")


@bp.get("/operator/accounts", of_operator)
def list_accounts() -> Response:
    """The accounts."""
    filters = read_filters(accounts.ACCOUNTS, request.args)
    return page("operator/accounts.html", filters=filters, listed=read_list_page(filters))


@bp.get("/operator/accounts/<account_id>", of_operator)
def show_account(account_id: str) -> Response:
    """An account: its plan, its usage, and its owners."""
    return _account_page(account_id, None)


@bp.post("/operator/accounts/<account_id>/plan", of_operator)
def change_plan(account_id: str) -> Response:
    """Put an account on another plan."""
    draft = sent_draft(PlanSchema())
    if not draft.values:
        return _account_page(account_id, draft)
    ask_again(password=True)
    plan, former = draft.values["plan"], draft.values["was_plan"]
    with draft.refusals(), transaction():
        accounts.change_plan(account_id, plan, former)
    if draft.has_problem:
        return _account_page(account_id, draft)
    path = f"/operator/accounts/{account_id}"
    return redirect_to(path, f"The plan is now {plan}.")


@bp.get("/operator/people", of_operator)
def list_people() -> Response:
    """The people."""
    filters = read_filters(people.PEOPLE, request.args)
    listed = read_list_page(filters)
    return page(
        "operator/people.html", filters=filters, listed=listed, accounts_shown=ACCOUNTS_SHOWN
    )


@bp.get("/operator/mails", of_operator)
def show_mails() -> Response:
    """The last emails: to whom, about what, and whether they were sent."""
    folder = current_settings().instance_path / MAIL_FOLDER
    return page(
        "operator/mails.html",
        mails=list_mails(),
        folder=folder,
        shown=LISTED,
        kept=MAILS_KEPT_FOR.days,
    )


@bp.get("/operator/map", of_operator)
def show_backgrounds() -> Response:
    """The backgrounds of maps, each with a sample if that is asked for."""
    settings, sample = current_settings(), request.args.get("sample", "")
    if sample in PRESETS:
        allow_origins([preset_layer(sample)])
    names = ("MAP_LAYERS", settings.map_layers), ("MAP_TILE_URL", settings.map_tile_url)
    return page(
        "operator/map.html",
        presets=PRESETS,
        on=read_state().backgrounds,
        setting=next((name for name, value in names if value), None),
        layers=shown_layers(),
        tiles={sample: sample_tiles(sample)} if sample in PRESETS else {},
        state_seconds=int(STATE_SECONDS),
    )


@bp.post("/operator/map", of_operator)
def set_background() -> Response:
    """Turn a background on or off, or show it first."""
    name, place = request.form.get("name", ""), request.form.get("place")
    if name not in PRESETS or place not in _BACKGROUND:
        raise BadRequest("Choose one of the backgrounds, and whether it is on.")
    ask_again(password=True)
    with transaction():
        changes.set_background(name, place)
    forget_state()
    return redirect_to("/operator/map", _BACKGROUND[place].format(PRESETS[name].title))


@bp.get(_LOG, of_operator)
def log() -> Response:
    """The log of the instance: what belongs to no account, and what operators do."""
    filters = _log_filters(request.args)
    listed = list_latest(INSTANCE, filters.query(per_page=LISTED), filters.before or None)
    return page(
        "operator/log.html",
        filters=filters,
        lines=list(map(line_of, listed.entries)),
        listed=listed,
        looked_through=LOOKED_THROUGH,
        pages=accounts.addresses_of(listed.entries),
        pictured=frozenset(),
    )


@bp.post(f"{_LOG}/export", of_operator)
def export_log() -> Response:
    """A file with all that the filters leave of the log of the instance."""
    format_name, query = read_export(_log_filters(request.form), request.form)
    return file_response(INSTANCE, format_name, query)


def _log_filters(arguments: Any) -> EntryFilters:
    return EntryFilters(INSTANCE, arguments, _LOG, OF_INSTANCE)


def _overview_page(draft: Draft) -> Response:
    return form_page(
        "operator/overview.html",
        draft,
        state=read_state(),
        kinds=MESSAGE_KINDS,
        longest=MESSAGE_LENGTH,
        sign_up_setting=current_settings().sign_up,
        state_seconds=int(STATE_SECONDS),
        progress=read_progress(),
        operators=instance_operators.list_operators(),
        **read_overview(),
    )


def _account_page(account_id: str, draft: Draft | None) -> Response:
    """Return the page of an account, with the form if it was rejected."""
    account = accounts.read_account_details(account_id)
    plan = account.record["plan"]
    try:
        usage = usage_meters(account_id, plan)
    except NoResultFound:  # it has just been deleted
        raise NotFound("This account does not exist.") from None
    return form_page(
        "operator/account.html",
        draft or Draft({"plan": plan}),
        account=account.record,
        owners=account.owners,
        is_billed=account.is_billed,
        plans=list(plans()),
        meters=usage,
    )
