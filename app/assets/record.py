"""Records of assets, with the fields that ``app.policy.fields`` lists."""

from __future__ import annotations

from typing import Any, Final

from app.models import Asset
from app.policy.fields import ASSET
from app.values.records import columns_of_fields, object_row, row_reader
from app.values.strict_json import dumps

COLUMNS: Final = columns_of_fields(Asset, ASSET)

row_record = row_reader(ASSET)  # takes the values of COLUMNS; JSON stays unparsed


def asset_record(asset: Asset) -> dict[str, Any]:
    """The fields of an asset."""
    return row_record(*object_row(asset, ASSET))


def asset_data(asset: Asset) -> bytes:
    """The bytes that the entity tag of an asset is computed from."""
    return dumps(asset_record(asset))
