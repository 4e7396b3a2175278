"""A database that cannot be reached, as a reading meets it."""

from __future__ import annotations

from pathlib import Path

from app.factory import create_app
from app.security.tokens import API_KEY, new_token
from config import load_settings
from tests.ports import free_port


def test_a_database_that_refuses_connections_is_an_outage(tmp_path: Path) -> None:
    address = f"postgresql://canopy@127.0.0.1:{free_port()}/canopy"
    app = create_app(load_settings({"INSTANCE_PATH": str(tmp_path), "DATABASE_URL": address}))
    sign = {"Authorization": f"Bearer {new_token(API_KEY)}"}
    answer = app.test_client().get("/v1/projects", headers=sign)
    assert answer.status_code == 503
    assert answer.json["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert int(answer.headers["Retry-After"]) >= 1
