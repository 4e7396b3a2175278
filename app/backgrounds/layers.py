"""The layers of maps: those of the settings, else those that operators have turned on."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from flask import Flask, request

from app.basemap import own_basemap
from app.http.middleware import IMAGE_ORIGINS
from app.policy.backgrounds import PRESETS
from app.settings.current import current_settings
from app.settings.map_layers import Layer, preset_layer
from app.site.instance_state import shown_backgrounds
from config import Settings


def init_app(app: Flask) -> None:
    """Give templates ``map_layers()``."""
    app.jinja_env.globals["map_layers"] = _layers_of_page


def shown_layers() -> list[Layer]:
    """Return the layers in the order in which they are offered; the first background is shown
    first. The land that each map can draw by itself is none of them."""
    return [*_own_layers(), *chosen_layers(current_settings(), shown_backgrounds())]


def chosen_layers(settings: Settings, names: Iterable[str]) -> list[Layer]:
    """Return the layers of the settings, else the presets with these names."""
    if settings.map_layers:
        return list(settings.map_layers)
    if url := settings.map_tile_url:
        title = f"Map of {urlsplit(url).netloc.removeprefix('{s}.')}"
        return [Layer("tiles", title, url, attribution=settings.map_tile_attribution)]
    return [preset_layer(name) for name in names]


def _own_layers() -> list[Layer]:
    """Return the map of this instance's own region, if there is one."""
    own = own_basemap()
    if own is None:
        return []
    layer = Layer("own", "Own map", own.url, "pmtiles", attribution=own.attribution)
    return [layer._replace(max_zoom=own.max_zoom)]


def sample_tiles(name: str) -> list[str]:
    """Return the addresses of two tiles of a preset, side by side."""
    zoom, column, row = PRESETS[name].sample
    address = preset_layer(name).url.replace("{s}", "a")
    return [address.format(z=zoom, x=x, y=row) for x in (column, column + 1)]


def allow_origins(layers: Iterable[Layer]) -> None:
    """Let the page of this request load the images of these layers."""
    origins = dict.fromkeys(layer.origin for layer in layers if layer.origin)
    request.environ[IMAGE_ORIGINS] = " ".join(origins)


def _layers_of_page() -> list[dict[str, object]]:
    """Return the layers as a page of maps has them, which may load their images."""
    layers = shown_layers()
    allow_origins(layers)
    return [layer._asdict() for layer in layers]
