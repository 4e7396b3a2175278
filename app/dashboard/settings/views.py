"""The settings of an account: its name, its plan, and where its API is."""

from __future__ import annotations

from flask import Response, request

from app.account.service import read_account, rename_account
from app.auth.principal import Principal
from app.dashboard.settings.forms import AccountNameForm
from app.dashboard.settings.limits import limits_in_words
from app.db.transactions import transaction
from app.http.errors import PreconditionFailed
from app.http.urls import absolute_url
from app.limits.plan_file import plan_of
from app.site.forms import Unchanged, form_page
from app.site.pages import PageBlueprint, redirect_to
from app.site.signed_in import of_account

bp = PageBlueprint("settings", __name__, section="/settings")


@bp.get("/settings")
@of_account("admin")
def settings(principal: Principal) -> Response:
    """The account's name, plan and addresses."""
    name = read_account(principal.account_id)["name"]
    return _page(principal, AccountNameForm(formdata=None, name=name))


@bp.post("/settings")
@of_account("admin")
def rename(principal: Principal) -> Response:
    """Rename the account, unless somebody else has renamed it since the page was loaded."""
    form = AccountNameForm()
    if not form.validate_on_submit():
        return _page(principal, form)
    shown = Unchanged(name=request.form.get("was_name"))
    try:
        with transaction():
            record = rename_account(principal, {"name": form.name.data}, shown)
    except PreconditionFailed as error:
        form.name.errors = [
            "Somebody has renamed the account since you opened the page. Nothing of yours is saved "
            "yet: save again to replace the new name."
        ]
        return _page(principal, form, error.status)
    return redirect_to("/settings", f"The account is called {record['name']} now.")


def _page(principal: Principal, form: AccountNameForm, status: int | None = None) -> Response:
    return form_page(
        "settings/settings.html",
        form,
        status,
        account=read_account(principal.account_id),
        limits=limits_in_words(plan_of(principal.plan)),
        addresses=[
            ("api", "REST API", absolute_url("/v1")),
            ("ogc", "OGC API Features, for QGIS and other GIS programs", absolute_url("/ogc")),
        ],
    )
