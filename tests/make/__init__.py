"""Plain functions that make one of each thing a test needs."""

from tests.make.accounts import (
    Client,
    make_account,
    make_key,
    make_service_token,
    use_up_minute,
)
from tests.make.apps import second_app
from tests.make.events import event_types, events
from tests.make.geometry import multi_square, point, square
from tests.make.resources import make_asset, make_project
from tests.make.together import together

__all__ = [
    "Client",
    "event_types",
    "events",
    "make_account",
    "make_asset",
    "make_key",
    "make_project",
    "make_service_token",
    "multi_square",
    "point",
    "second_app",
    "square",
    "together",
    "use_up_minute",
]
