"""``MAP_LAYERS``: presets, and layers of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.policy.backgrounds import PRESETS
from app.settings.map_layers import Layer, preset_layer
from config import SettingsError, load_settings

XYZ = 'url = "https://tiles.example.org/{z}/{x}/{y}.png"'
WMS = 'url = "https://wms.example.org/ows?map=a"\nwms_layers = "loss,gain"'


def load(folder: Path, text: str) -> tuple[Layer, ...]:
    """The layers of a file of settings with this text."""
    (path := folder / "layers.toml").write_text(text)
    return load_settings({"INSTANCE_PATH": str(folder), "MAP_LAYERS": str(path)}).map_layers


def test_presets_have_addresses_and_attributions_of_the_library(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name in PRESETS:
        with subtests.test(name):
            layer = preset_layer(name)
            words = layer.url.replace("{s}.", "")
            assert layer.origin.startswith("https://")
            assert sorted(part[0] for part in words.split("{")[1:]) == ["x", "y", "z"]
            assert layer.attribution
            assert 0 <= layer.min_zoom < layer.max_zoom
    settings = load_settings({"INSTANCE_PATH": str(tmp_path), "MAP_LAYERS": "swissimage, osm,osm"})
    assert [layer.name for layer in settings.map_layers] == ["swissimage", "osm"]


def test_layers_of_a_file(tmp_path: Path) -> None:
    layers = load(
        tmp_path,
        f"""
        [[layer]]
        name = "Flight of 2026"
        {XYZ}
        attribution = "The county"
        min_zoom = 5
        max_zoom = 17
        [[layer]]
        name = "Tree cover loss"
        {WMS}
        overlay = true
        opacity = 0.6
        legend = "Pink: lost since 2001. A signal, not a finding."
        [[layer]]
        name = "gibs-relief"
        overlay = true
        opacity = 0.3
        """,
    )
    flight, loss, relief = layers
    assert flight == Layer(
        "Flight of 2026", "Flight of 2026", "https://tiles.example.org/{z}/{x}/{y}.png",
        attribution="The county", min_zoom=5, max_zoom=17,
    )  # fmt: skip
    assert (loss.type, loss.wms_layers, loss.opacity) == ("wms", "loss,gain", 0.6)
    assert loss.origin == "https://wms.example.org"
    assert relief == preset_layer("gibs-relief")._replace(overlay=True, opacity=0.3)


def test_a_wrong_file_is_told_with_layer_and_member(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    named = '[[layer]]\nname = "Flight"\n'
    for text, told in [
        ("[[layer]", "is not TOML"),
        ("layer = 1", "must have tables [[layer]]"),
        (f"{named}{XYZ}\n[other]", "and nothing else"),
        (f"[[layer]]\n{XYZ}", "layer 1 is wrong: name is missing"),
        (f'[[layer]]\nname = " "\n{XYZ}', "layer 1 (' ') is wrong: name is missing"),
        (f'[[layer]]\nname = "own"\n{XYZ}', "name cannot be own or blank"),
        (f"{named}{XYZ}\n" * 51, "with more than 50 layers"),
        (named, "layer 1 ('Flight') is wrong: url is missing; only osm, "),
        (f"{named}{XYZ}\n{named}{XYZ}", "layer 2 ('Flight') is wrong: name is that of another"),
        (f"{named}url = 1", "url must be one line"),
        (f'{named}url = ""', "url must not be empty"),
        (f'{named}url = "https://wms.example.org"', "url must have {z}, {x} and {y}"),
        (f'{named}url = "https://wms.example.org"', "an address of a WMS needs wms_layers"),
        (f'{named}url = "file:///"\nwms_layers = "a"', "url must be a URL that begins with http"),
        (f'{named}url = "https://a b/{{z}}/{{x}}/{{y}}"', "url must have a host of letters"),
        (f'{named}url = "https://a/{{z}}/{{x}}/{{y}}?{{key}}"', "url can have no words in braces"),
        (f'{named}url = "https://a;b/"\nwms_layers = "a"', "url must have a host of letters"),
        (f"{named}{XYZ}\nmin_zoom = 12\nmax_zoom = 11", "min_zoom is more than max_zoom"),
        (f"{named}{XYZ}\nmax_zoom = 23", "max_zoom must be a whole number from 0 to 22"),
        (f"{named}{XYZ}\nmin_zoom = true", "min_zoom must be a whole number"),
        (f"{named}{XYZ}\nopacity = 60", "opacity must be a number from 0 to 1"),
        (f"{named}{XYZ}\noverlay = 1", "overlay must be true or false"),
        (f'{named}{XYZ}\nlegend = """a\nb"""', "legend must be one line"),
        (f"{named}{XYZ}\ntype = 1", "type is unknown; a layer can have name, url, wms_layers"),
    ]:
        with subtests.test(told), pytest.raises(SettingsError) as refusal:
            load(tmp_path, text)
        assert str(refusal.value).startswith("MAP_LAYERS names a file ")
        assert told in str(refusal.value)
