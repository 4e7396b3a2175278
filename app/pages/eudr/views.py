"""The page of plots for the EUDR."""

from __future__ import annotations

from time import monotonic
from typing import Final, NamedTuple

from flask import Response, request

from app.auth.principal import Principal
from app.db.transactions import transaction
from app.exports.responses import export_response
from app.http.errors import ApiError, BadRequest, ValidationFailed
from app.pages.eudr import words
from app.pages.eudr.choices import STATUSES, Choices, address_of, read_choices
from app.pages.eudr.filling import Failure, Filling, fill_plots, find_plots, read_filling
from app.pages.eudr.overview import make_overview
from app.pages.filters import refuse_problems
from app.site.formats import pluralize, sentence
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.protection import own_site_only
from app.site.signed_in import is_from_script, of_account

bp = PageBlueprint("eudr_pages", __name__, section="/eudr")

SECONDS: Final = 1.5  # in which a request fills in plots
TRANSACTION_PLOTS: Final = 50
_SENT: Final = ("code", "field", "value", "which", "named", "measure", "set", "only", "ids")
_FAILURES: Final = 10  # after which no more plots are tried
_FAILURES_IN_MESSAGE: Final = 3


class _Progress(NamedTuple):
    """The progress after a request.

    Args:
        done: the number of plots that were changed.
        left: the number that are left.
        is_stopped: True if no more are to be tried.
    """

    done: int
    left: int
    failures: list[Failure]
    is_stopped: bool


@bp.get("/eudr", of_account("projects:read"))
def eudr(principal: Principal) -> Response:
    """Show the content of a file for the EUDR, and what to complete before."""
    return _overview_page(principal)


@bp.post("/eudr", of_account("projects:read"))
def choose(principal: Principal) -> Response:
    """Lead to the page for the ticked projects."""
    ids = request.form.getlist("ids")
    if not ids:
        raise BadRequest("Tick the projects first.")
    return redirect_to(address_of(principal, ids))


@bp.get("/eudr/download", of_account("projects:read"))
@own_site_only
def download(principal: Principal) -> Response:
    """Download the file."""
    choices = read_choices(principal, request.args)
    refuse_problems(choices.problems)
    return export_response(choices.export(principal), principal.account_name)


@bp.post("/eudr/fill", of_account("projects:write"))
def fill_in(principal: Principal) -> Response:
    """Fill in a property of many plots. The page sends the form again until none is left."""
    choices = read_choices(principal, request.args)
    refuse_problems(choices.problems)
    try:
        filling = read_filling(request.form)
    except ValidationFailed as error:
        return _overview_page(principal, error)
    skipped = frozenset(request.form.getlist("skipped"))
    before = request.form.get("before", 0, int)
    progress = _fill_plots(principal, choices, filling, skipped)
    failures = progress.failures
    messages = request.form.getlist("message") + [sentence(failure.message) for failure in failures]
    total = before + progress.done
    if not progress.left or progress.is_stopped:
        message = " ".join([_filling_result(filling, total, progress), *_first_messages(messages)])
        return redirect_to(choices.address(), message)
    return page(
        "eudr/going_on.html" if is_from_script() else "eudr/filling.html",
        choices=choices,
        filling=filling,
        done=total,
        total=total + progress.left,
        skipped=[*skipped, *(failure.id for failure in failures)],
        messages=messages,
        sent=[(name, text) for name, text in request.form.items(multi=True) if name in _SENT],
    )


def _fill_plots(
    principal: Principal, choices: Choices, filling: Filling, skipped: frozenset[str]
) -> _Progress:
    """Fill in as many plots as one request can, in short transactions: others wait for each."""
    plots = find_plots(principal, choices, filling, skipped)
    end, tried, is_stopped = monotonic() + SECONDS, 0, False
    failures: list[Failure] = []
    while not is_stopped and (batch := plots[tried : tried + TRANSACTION_PLOTS]):
        try:
            with transaction():
                failures_of_batch = fill_plots(principal, filling, batch)
        except ApiError as error:
            name = batch[0].properties["name"]
            message = f"“{name}” and the plots after it were not changed. {error.message}"
            stop = Failure(batch[0].id, message)
            return _Progress(tried - len(failures), len(plots) - tried, [*failures, stop], True)
        failures += failures_of_batch
        tried += len(batch)
        is_stopped = len(skipped) + len(failures) >= _FAILURES
        if monotonic() > end:
            break
    return _Progress(tried - len(failures), len(plots) - tried, failures, is_stopped)


def _filling_result(filling: Filling, number: int, progress: _Progress) -> str:
    if not number:
        return "Nothing was changed." if not progress.failures else ""
    is_removed = filling.value is None and not filling.is_named
    verb = "removed from" if is_removed else "set for"
    left = f" {pluralize(progress.left, 'plot')} left." if progress.left else ""
    return f"{filling.field} {verb} {pluralize(number, 'plot')}.{left}"


def _first_messages(messages: list[str]) -> list[str]:
    """The messages that a cookie has room for."""
    more = len(messages) - _FAILURES_IN_MESSAGE
    rest = [f"And {pluralize(more, 'more plot')}."] if more > 0 else []
    return messages[:_FAILURES_IN_MESSAGE] + rest


def _overview_page(principal: Principal, error: ValidationFailed | None = None) -> Response:
    choices = read_choices(principal, request.args)
    problem, overview = None, None
    try:
        overview = make_overview(principal, choices)
    except BadRequest as too_many:
        problem = too_many.message
    return page(
        "eudr/eudr.html",
        error.status if error else 200,
        principal=principal,
        choices=choices,
        overview=overview,
        problem=problem,
        errors=[detail.message for detail in error.details] if error else [],
        sent_code=request.form.get("code"),
        sent_field=request.form.get("field"),
        sent_ids=request.form.getlist("ids"),
        sent_value=request.form.get("value", ""),
        statuses=STATUSES,
        words=words,
    )
