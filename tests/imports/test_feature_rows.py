"""What is kept of the features of an import, whose rows stay for a month."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.db.extensions import db
from app.geometry.problems import whole_problem
from app.imports.feature_rows import feature_row
from app.imports.features.candidates import RejectedFeature
from app.models import ImportFeature
from tests.imports.making import act, ready
from tests.make import Client, square
from tests.make.features import feature


@pytest.mark.parametrize(("number", "kept"), [(1, 20), (1000, 20), (1001, 2)])
def test_few_and_short_problems_are_kept(number: int, kept: int) -> None:
    problem = whole_problem("not_valid", "m" * 1000, "properties." + "x" * 990)
    row = feature_row("acct_1", "imp_1", RejectedFeature(number, "a", (problem,) * 30), None)
    assert len(row["problems"]) == kept
    for each in row["problems"]:
        assert (len(each["field"]), len(each["message"]), each["field"][-1]) == (100, 500, "…")


@pytest.mark.both
def test_the_values_of_a_feature_are_kept_until_they_are_written(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine", soil="loam"))
    own = select(ImportFeature.values).where(ImportFeature.import_id == record["id"])
    with client.app.app_context():
        assert db.session.scalar(own)["columns"]["metadata_json"] == '{"soil":"loam"}'
    act(client, record, "apply")
    with client.app.app_context():
        assert db.session.scalar(own) == {}
