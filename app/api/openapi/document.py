"""The OpenAPI 3.1 description of /v1, as one document."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from apispec import APISpec
from flask import Flask, current_app

from app.api.openapi.components import CanopyApi
from app.api.openapi.converter import Plugin
from app.api.openapi.deprecations import mark_deprecations
from app.settings.current import current_settings
from app.values.version import VERSION

CONFIG: Final = {
    "API_TITLE": "Canopy",
    "API_VERSION": VERSION,
    "OPENAPI_VERSION": "3.1.0",
    "API_SPEC_OPTIONS": {
        "info": {
            "description": "Forest projects with their boundaries, the assets in them, and the "
            "account that they belong to. Send JSON, and `Authorization: Bearer …` with every "
            "request.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
    },
}

_lock = Lock()


def init_app(app: Flask) -> CanopyApi:
    """Bind flask-smorest, with which the resources of /v1 are registered."""
    api = CanopyApi()
    api.init_app(app, spec_kwargs={"marshmallow_plugin": Plugin()})
    app.extensions["canopy_openapi"] = {}
    api.spec.to_dict = api_description  # what `flask openapi` prints
    return api


def api_description(address: str | None = None) -> dict[str, Any]:
    """The OpenAPI document of the current application.

    Args:
        address: of this instance, as the reader reaches it, without a slash at its end; without
            it, the one that is set.
    """
    settings = current_settings()
    address = address or settings.public_url
    cached: dict[str, Any] = current_app.extensions["canopy_openapi"]
    with _lock:
        if not cached:  # built once per process
            api: CanopyApi = current_app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
            for describe in api.undescribed:
                describe()
            cached |= mark_deprecations(APISpec.to_dict(api.spec))
    contact = {"name": "Whoever runs this instance", "url": f"{address}/docs"}
    contact |= {"email": settings.support_email} if settings.support_email else {}
    servers = [{"url": address, "description": "This instance"}]
    return cached | {
        "info": cached["info"] | {"contact": contact},
        "servers": servers,
        "externalDocs": {"url": f"{address}/docs/guides", "description": "Guides"},
    }
