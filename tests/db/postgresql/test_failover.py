"""Which of several hosts is asked first."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url

from app.db.postgresql.failover import KnownServer


@pytest.mark.parametrize("hosts", ["host=a:5432&host=b:5432", "host=a,b"])
def test_the_host_that_responded_last_is_asked_first(hosts: str) -> None:
    url = make_url(f"postgresql+psycopg://u@/d?{hosts}")
    _, parameters = url.get_dialect()().create_connect_args(url)
    server = KnownServer()
    assert server.last_first(parameters) == parameters
    server.on_opened("b", 5432)
    assert server.last_first(parameters)["host"] == "b,a"
