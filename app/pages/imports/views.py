"""Views of imports: their list, the upload of a file, and one import with its actions."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from app.api.error_handlers import render_error
from app.api.openapi.geojson import GEOJSON
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.http.errors import ApiError, PayloadTooLarge, PreconditionFailed
from app.imports import checks, feature_map, listing, service, uploads
from app.imports.schemas import ImportUpdateSchema
from app.pages.imports import rendering, settings_form
from app.policy.files import FEATURES, FORM_BYTES
from app.settings.current import current_settings
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.protection import FormLimits, own_site_only, with_form_limits
from app.site.signed_in import current_person, is_from_script, of_account
from app.values.formats import format_in

bp = PageBlueprint("import_pages", __name__, section="/imports")

_NEEDS: Final = "projects:write"  # each role with this permission has assets:write too
_ONE: Final = "/imports/<import_id>"


@bp.get("/imports", of_account(_NEEDS))
def imports(principal: Principal) -> Response:
    """The imports of the last days, the newest first."""
    return rendering.list_page(principal)


@bp.get("/imports/new", of_account(_NEEDS))
def new_import(principal: Principal) -> Response:
    """A form to upload a file; for a script also the projects that a search finds."""
    if is_from_script():
        return rendering.project_options(principal)
    return rendering.upload_page(principal)


@bp.post("/imports/new", of_account(_NEEDS))
@with_form_limits(FormLimits(FORM_BYTES, "file", "max_import_bytes", is_file=True))
def upload(principal: Principal) -> Response:
    """Store a file, and begin to read it."""
    try:
        values = rendering.upload_values()
        file = values.pop("file")
        checks.check_new_import(principal, **values)
        upload_id = uploads.store_file(principal.account_id, file.stream, transaction)
        with transaction():
            import_ = service.create_import(
                principal, **values, filename=file.filename, upload_id=upload_id
            )
            path = f"/imports/{import_.id}"
    except PayloadTooLarge:
        raise
    except ApiError as error:
        if is_from_script():
            raise
        return rendering.upload_page(principal, error)
    if is_from_script():
        return Response(status=201, headers={"Location": path, "Cache-Control": "no-store"})
    return redirect_to(path)


@bp.errorhandler(PayloadTooLarge)
def too_large(error: PayloadTooLarge) -> Response:
    """Show the size limit to whoever uploads a file that is too large."""
    if request.endpoint != f"{bp.name}.{upload.__name__}":
        return render_error(error)
    limit = current_settings().max_import_bytes
    size = format_in("en").bytes(limit)
    message = f"The file is larger than {size}. Split it into several, or simplify it."
    if is_from_script():
        return render_error(PayloadTooLarge(message))
    current_person()  # for the navigation
    return page("imports/too_large.html", error.status, message=message)


@bp.get(_ONE, of_account(_NEEDS))
def one_import(principal: Principal, import_id: str) -> Response:
    """One import: its progress, its changes, and how the file was read."""
    return rendering.import_page(principal, import_id)


@bp.get(f"{_ONE}/shapes", of_account(_NEEDS))
@own_site_only
def shapes(principal: Principal, import_id: str) -> Response:
    """A page of features of an import, or those of all pages after a number, as GeoJSON for the
    map."""
    selection, number = rendering.feature_page(), request.args.get("after", type=int)
    if number is None:
        drawn = feature_map.page_on_map(principal, import_id, **selection.paged)
    else:
        number = min(max(number, 0), FEATURES)
        drawn = feature_map.all_on_map(principal, import_id, number, **selection.filters)
    return Response(drawn, content_type=GEOJSON, headers={"Cache-Control": "private, no-cache"})


@bp.post(f"{_ONE}/change", of_account(_NEEDS))
def change(principal: Principal, import_id: str) -> Response:
    """Read the file again, with other choices."""
    record = listing.read_import(principal, import_id)
    try:
        values = rendering.checked_values(
            ImportUpdateSchema, settings_form.read_choices(request.form, record)
        )
        with transaction():
            service.change_import(principal, import_id, values)
    except ApiError as error:
        return rendering.import_page(principal, import_id, error, request.form)
    renamed = request.form.get("rename", type=int)
    return redirect_to(f"/imports/{import_id}" + (f"?feature={renamed}" if renamed else ""))


@bp.post(f"{_ONE}/leave-out", of_account(_NEEDS))
def leave_out(principal: Principal, import_id: str) -> Response:
    """Leave out the listed features that are not ticked, and include the others."""
    try:
        with transaction():
            before = service.lock_import(principal, import_id).left_out
            values = {"left_out": settings_form.left_out(request.form, before)}
            values = rendering.checked_values(ImportUpdateSchema, values)
            service.change_import(principal, import_id, values)
    except ApiError as error:
        if is_from_script():
            raise
        return rendering.import_page(principal, import_id, error)
    if is_from_script():
        return rendering.import_page(principal, import_id)
    return redirect_to(f"/imports/{import_id}{rendering.feature_page().query()}#features")


@bp.post(f"{_ONE}/apply", of_account(_NEEDS))
def apply(principal: Principal, import_id: str) -> Response:
    """Apply an import, unless its preview has changed since the page was loaded."""
    try:
        with transaction():
            service.apply_import(principal, import_id, reviewed=request.form.get("looked_at", ""))
    except PreconditionFailed as error:
        return rendering.import_page(principal, import_id, error)
    return redirect_to(f"/imports/{import_id}")


@bp.post(f"{_ONE}/cancel", of_account(_NEEDS))
def cancel(principal: Principal, import_id: str) -> Response:
    """Cancel an import."""
    with transaction():
        service.cancel_import(principal, import_id)
    return redirect_to("/imports", "Import canceled. Its file was deleted.")


@bp.post(f"{_ONE}/undo", of_account(_NEEDS))
def undo(principal: Principal, import_id: str) -> Response:
    """Undo an applied import."""
    with transaction():
        service.undo_import(principal, import_id)
    return redirect_to(f"/imports/{import_id}")
