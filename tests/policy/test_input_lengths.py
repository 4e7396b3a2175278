"""The limits in templates are those of the policy."""

from __future__ import annotations

import re

import marshmallow as ma
import pytest
from flask import Flask

from app.assets.schemas import AssetCreateSchema
from app.policy.forms import INPUT_LENGTHS
from app.projects.schemas import ProjectCreateSchema, ProjectQuerySchema
from config import ROOT

TEMPLATES = {path: path.read_text() for path in sorted((ROOT / "app").rglob("*.html"))}
_LIMIT = r"\b(?:maxlength|minlength|min|max)="


def test_no_template_has_a_number_of_its_own() -> None:
    assert len(TEMPLATES) > 100
    for path, text in TEMPLATES.items():
        of_inputs = re.sub(r"<(?:meter|progress)\b[^>]*>", "", text)
        assert re.findall(_LIMIT + r"""["']?\d+""", of_inputs) == [], path


def test_each_length_is_there_and_used(app: Flask) -> None:
    used = {name for text in TEMPLATES.values() for name in re.findall(r"\bLENGTHS\.(\w+)", text)}
    assert used == INPUT_LENGTHS.keys()
    assert app.jinja_env.globals["LENGTHS"] is INPUT_LENGTHS


@pytest.mark.parametrize(
    ("schema", "field", "name"),
    [
        (AssetCreateSchema, "name", "name"),
        (AssetCreateSchema, "type", "word"),
        (AssetCreateSchema, "status", "word"),
        (ProjectCreateSchema, "name", "name"),
        (ProjectQuerySchema, "search", "search"),
    ],
)
def test_what_fits_into_an_input_is_as_long_as_its_field(
    schema: type[ma.Schema], field: str, name: str
) -> None:
    longest = INPUT_LENGTHS[name]
    assert field not in schema().validate({field: "x" * longest})
    assert field in schema().validate({field: "x" * (longest + 1)})
