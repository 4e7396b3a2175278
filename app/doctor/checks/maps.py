"""The check of the layers of maps."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, select

from app.backgrounds.layers import chosen_layers
from app.doctor.findings import Finding, ok, warning
from app.models import InstanceState
from app.site.instance_state import background_names
from config import Settings


def check_layers(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Say what maps show, and name layers that browsers do not load or that lack an attribution."""
    stored = connection.scalar(select(InstanceState.backgrounds))
    layers = chosen_layers(settings, background_names(stored))
    unnamed = ", ".join(layer.title for layer in layers if not layer.attribution)
    unsafe = ", ".join(layer.title for layer in layers if layer.origin.startswith("http:"))
    if unnamed:
        advice = "Set attribution in the file of MAP_LAYERS, or MAP_TILE_ATTRIBUTION."
        yield warning(f"Layers of maps that do not name their owner: {unnamed}", advice)
    if unsafe and settings.is_https:
        advice = "Give them an address with https: this service has one."
        yield warning(f"Layers of maps that browsers do not load, over http: {unsafe}", advice)
    elif not unnamed:
        titles = ", ".join(layer.title for layer in layers)
        yield ok(f"backgrounds and overlays of maps: {titles or 'none (see /operator/map)'}")
