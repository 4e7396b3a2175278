"""Plain functions that make one of each thing a test needs."""

from tests.make.accounts import Client, make_account, make_key, make_service_token
from tests.make.geometry import multi_square, point, square
from tests.make.resources import make_asset, make_project

__all__ = [
    "Client",
    "make_account",
    "make_asset",
    "make_key",
    "make_project",
    "make_service_token",
    "multi_square",
    "point",
    "square",
]
