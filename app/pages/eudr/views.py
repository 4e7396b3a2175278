"""The page of plots for the EUDR."""

from __future__ import annotations

from itertools import islice
from time import monotonic
from typing import Final, NamedTuple

from flask import Response, request

from app.auth.principal import Principal
from app.db.transactions import transaction
from app.exports.responses import export_response
from app.exports.service import log_export
from app.http.errors import ApiError, BadRequest, ValidationFailed
from app.pages.eudr import words
from app.pages.eudr.choices import FORM, STATUSES, Choices, read_choices
from app.pages.eudr.filling import (
    Failure,
    Wanted,
    fill_plots,
    find_plots,
    read_wanted,
)
from app.pages.eudr.findings import look
from app.pages.filters import refuse
from app.policy.eudr import AREA, COUNTRY, NAME, PLACE
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.protection import own_site_only
from app.site.signed_in import is_from_script, of_account
from app.values.text import pluralize

bp = PageBlueprint("eudr_pages", __name__, section="/eudr")

_SECONDS: Final = 1.5  # in which a request fills in plots
_TOGETHER: Final = 50  # plots of one transaction
_FAILURES: Final = 10  # plots that cannot be filled in, after which no more are tried
_TOLD: Final = 3  # of these, in the message of the next page


class _Filled(NamedTuple):
    """What a request has filled in.

    Args:
        done: how many plots.
        left: how many are left.
        is_stopped: whether no more are to be tried.
    """

    done: int
    left: int
    failures: list[Failure]
    is_stopped: bool


@bp.get("/eudr")
@of_account("projects:read")
def eudr(principal: Principal) -> Response:
    """What a file for the EUDR would hold, and what is to be completed before."""
    return _overview(principal)


@bp.get("/eudr/download")
@of_account("projects:read")
@own_site_only
def download(principal: Principal) -> Response:
    """The file."""
    choices = read_choices(request.args)
    refuse(choices.problems)
    export = choices.export(principal)
    response = export_response(export)
    with transaction():
        log_export(export, principal.account_name)
    return response


@bp.post("/eudr/fill")
@of_account("projects:write")
def fill_in(principal: Principal) -> Response:
    """Fill in a property of many plots; the page asks again until none is left."""
    choices = read_choices(request.args)
    refuse(choices.problems)
    try:
        wanted = read_wanted(request.form)
    except ValidationFailed as error:
        return _overview(principal, error)
    skipped = frozenset(request.form.getlist("skipped"))
    before = request.form.get("before", 0, int)
    filled = _fill(principal, choices, wanted, skipped)
    messages = request.form.getlist("message") + [each.message for each in filled.failures]
    total = before + filled.done
    if not filled.left or filled.is_stopped:
        told = " ".join([_done(wanted, total, filled), *_few(messages)])
        return redirect_to(choices.address(), told)
    return page(
        "eudr/going_on.html" if is_from_script() else "eudr/filling.html",
        choices=choices,
        wanted=wanted,
        done=total,
        total=total + filled.left,
        skipped=[*skipped, *(each.id for each in filled.failures)],
        messages=messages,
    )


def _fill(
    principal: Principal, choices: Choices, wanted: Wanted, skipped: frozenset[str]
) -> _Filled:
    """Fill in as many plots as one request can, in transactions of a few: others wait for each."""
    found = find_plots(principal, choices, wanted, skipped)
    end, gone, is_stopped = monotonic() + _SECONDS, 0, False
    failures: list[Failure] = []
    plots = iter(found)
    while not is_stopped and (some := list(islice(plots, _TOGETHER))):
        try:
            with transaction():
                failed = fill_plots(principal, wanted, some)
        except ApiError as error:
            name = some[0].properties["name"]
            message = f"“{name}” and the plots after it were not changed. {error.message}"
            stop = Failure(some[0].id, message)
            return _Filled(gone - len(failures), len(found) - gone, [*failures, stop], True)
        failures += failed
        gone += len(some)
        is_stopped = len(skipped) + len(failures) >= _FAILURES
        if monotonic() > end:
            break
    return _Filled(gone - len(failures), len(found) - gone, failures, is_stopped)


def _done(wanted: Wanted, number: int, filled: _Filled) -> str:
    if not number:
        return "Nothing was changed." if not filled.failures else ""
    how = "removed from" if wanted.button == "measure" else "set for"
    stopped = f" {pluralize(filled.left, 'plot')} left." if filled.left else ""
    return f"{wanted.field} {how} {pluralize(number, 'plot')}.{stopped}"


def _few(messages: list[str]) -> list[str]:
    """The messages that a cookie has room for."""
    more = len(messages) - _TOLD
    return messages[:_TOLD] + ([f"And {pluralize(more, 'more plot')}."] if more > 0 else [])


def _overview(principal: Principal, error: ValidationFailed | None = None) -> Response:
    choices = read_choices(request.args)
    problem, overview = None, None
    try:
        overview = look(principal, choices)
    except BadRequest as refused:
        problem = refused.message
    return page(
        "eudr/eudr.html",
        error.status if error else 200,
        principal=principal,
        choices=choices,
        overview=overview,
        problem=problem,
        errors=[each.message for each in error.details] if error else [],
        sent_code=request.form.get("code"),
        sent_field=request.form.get("field"),
        sent_ids=request.form.getlist("ids"),
        sent_value=request.form.get("value", ""),
        statuses=STATUSES,
        form=FORM,
        words=words,
        AREA=AREA,
        COUNTRY=COUNTRY,
        NAME=NAME,
        PLACE=PLACE,
    )
