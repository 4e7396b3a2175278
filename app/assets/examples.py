"""The examples of assets in the API's description."""

from __future__ import annotations

from typing import Any, Final

from app.policy import fields

ASSET: Final[dict[str, Any]] = {field.name: field.example for field in fields.ASSET}
ASSET_BODY: Final[dict[str, Any]] = {
    field.name: field.example
    for field in fields.ASSET
    if field.writable == "always" and field.name != "status"  # a new asset is active without it
}
ASSET_CHANGE: Final[dict[str, Any]] = {"status": "maintenance"}
