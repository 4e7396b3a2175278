"""Reading the setting ``MAP_LAYERS``: what maps show below and above the shapes."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from app.policy.backgrounds import PRESETS
from app.settings.values import image_origin, tile_url, url

_ZOOMS: Final = range(0, 23)
_MOST_ZOOM: Final = 19  # of a layer that does not say how far it goes
_MOST_LAYERS: Final = 50  # a header of every page of maps names their servers
_TAKEN: Final = ("own", "blank")  # names that the instance's own layers have
_WORD: Final = re.compile(r"\{(\w+)\}")
_LENGTHS: Final = {"name": 60, "url": 1000, "wms_layers": 500, "attribution": 500, "legend": 500}


class Layer(NamedTuple):
    """A layer of every map. Pages have it as JSON, with these names.

    Attributes:
        name: what the choice of a reader is kept under.
        type: ``xyz``, ``wms``, or ``pmtiles`` for the file of this instance.
        wms_layers: names of the server's layers, separated by commas.
        attribution: text with links; no other HTML is shown.
        max_zoom: the last level that the server has; beyond it, tiles are enlarged.
        overlay: it lies over the background; otherwise it is one.
        opacity: from 0 to 1.
    """

    name: str
    title: str
    url: str
    type: str = "xyz"
    wms_layers: str = ""
    attribution: str = ""
    min_zoom: int = 0
    max_zoom: int = _MOST_ZOOM
    overlay: bool = False
    opacity: float = 1
    legend: str = ""

    @property
    def origin(self) -> str:
        """Whose images browsers load, as in a content security policy; empty: this instance's."""
        return "" if self.type == "pmtiles" else image_origin(self.url)


_KEYS: Final = ("name", "url", *Layer._fields[4:])


def map_layers(value: str) -> tuple[Layer, ...]:
    """Return the layers of a list of presets, or of a TOML file.

    Raises:
        ValueError: it is neither, or the file is wrong.
    """
    names = [part.strip() for part in value.split(",") if part.strip()]
    if all(name in PRESETS for name in names):
        return tuple(preset_layer(name) for name in dict.fromkeys(names))
    try:
        text = Path(value).read_text("utf-8")
    except (OSError, ValueError):  # ValueError: not UTF-8, or no path
        raise ValueError(
            f"must be names of {', '.join(PRESETS)}, separated by commas, or the path of a TOML "
            "file that Canopy can read"
        ) from None
    return _read_layers(text)


@cache
def preset_layer(name: str) -> Layer:
    """Return the layer of a preset."""
    preset = PRESETS[name]
    # The package itself would keep all of its thousand maps, which takes 11 MB.
    found = orjson.loads(files("xyzservices").joinpath("data", "providers.json").read_bytes())
    for key in preset.entry.split("."):
        found = found[key]
    return Layer(
        name,
        preset.title,
        _WORD.sub(lambda word: str(found.get(word[1], word[0])), found["url"]),
        attribution=found["html_attribution"],
        min_zoom=found.get("min_zoom", 0),
        max_zoom=found.get("max_zoom", 18),  # as Leaflet, for which the entries are written
    )


def _read_layers(text: str) -> tuple[Layer, ...]:
    try:
        tables = tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"names a file that is not TOML ({error})") from None
    listed = tables.pop("layer", None)
    if tables or not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ValueError("names a file that must have tables [[layer]], and nothing else")
    if len(listed) > _MOST_LAYERS:
        raise ValueError(f"names a file with more than {_MOST_LAYERS} layers")
    layers: dict[str, Layer] = {}
    for number, table in enumerate(listed, 1):
        try:
            layer = _read_layer(table)
            if layer.name in layers:
                raise ValueError("name is that of another layer")
        except ValueError as error:
            named = f" ({table['name']!r})" if isinstance(table.get("name"), str) else ""
            raise ValueError(
                f"names a file whose layer {number}{named} is wrong: {error}"
            ) from None
        layers[layer.name] = layer
    return tuple(layers.values())


def _read_layer(table: dict[str, Any]) -> Layer:
    """Return one layer. One with the name of a preset and without ``url`` is that preset."""
    for key, value in table.items():
        _check_member(key, value)
    name = table.get("name", "")
    if not name.strip():
        raise ValueError("name is missing")
    if name in _TAKEN:
        raise ValueError(f"name cannot be {' or '.join(_TAKEN)}")
    if "url" not in table and name in PRESETS:
        layer = preset_layer(name)
    elif "url" not in table:
        raise ValueError(f"url is missing; only {', '.join(PRESETS)} need none")
    else:
        layer = Layer(name, name, "", "wms" if table.get("wms_layers") else "xyz")
        _check_url(table["url"], layer.type)
    layer = layer._replace(**table)
    if layer.min_zoom > layer.max_zoom:
        raise ValueError("min_zoom is more than max_zoom")
    return layer


def _check_member(key: str, value: Any) -> None:
    if key not in _KEYS:
        raise ValueError(f"{key} is unknown; a layer can have {', '.join(_KEYS)}")
    if key in _LENGTHS:
        if not isinstance(value, str) or len(value) > _LENGTHS[key] or not value.isprintable():
            raise ValueError(f"{key} must be one line of at most {_LENGTHS[key]} characters")
    elif key == "overlay":
        if not isinstance(value, bool):
            raise ValueError("overlay must be true or false")
    elif key == "opacity":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError("opacity must be a number from 0 to 1")
    elif type(value) is not int or value not in _ZOOMS:
        raise ValueError(f"{key} must be a whole number from 0 to {_ZOOMS[-1]}")


def _check_url(value: str, kind: str) -> None:
    """Raise ValueError unless it is an address of the kind."""
    try:
        if kind == "xyz":
            tile_url(value)
        else:
            url("http", "https")(value)
        if not value:
            raise ValueError("must not be empty")
        image_origin(value)
    except ValueError as error:
        hint = "; an address of a WMS needs wms_layers" if kind == "xyz" else ""
        raise ValueError(f"url {error}{hint}") from None
