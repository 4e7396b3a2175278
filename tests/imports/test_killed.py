"""A worker that is killed in the middle of an import: the next one goes on, and nothing is done
twice."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.imports.making import read, upload
from tests.imports.worker import kill_all, running, wait_until
from tests.make import event_types, make_account, square
from tests.make.features import collection, feature

FEATURES = 250
HALF = range(40, FEATURES)


@pytest.mark.slow
def test_the_next_worker_goes_on(app: Flask) -> None:
    url = str(app.config["SETTINGS"].redis_url)
    features = (feature(square(n / 10, 40, size=0.05), name=f"Stand {n}") for n in range(FEATURES))
    content = collection(*features)
    for _ in range(5):  # who gets no turn for long may come too late to kill it in the middle
        client = make_account(app)
        import_id = upload(client, content).json["data"]["id"]
        with running(app, url) as pid:
            wait_until(client, import_id, lambda record: record["status"] == "ready")
            client.post(f"/v1/imports/{import_id}/apply")
            wait_until(
                client,
                import_id,
                lambda record: record["progress"]["done"] in HALF or record["status"] == "applied",
            )
            kill_all(pid)
        record = read(client, import_id)
        if record["status"] == "applying" and record["progress"]["done"] in HALF:
            break
    else:
        pytest.fail("it was never in the middle")
    with running(app, url):
        wait_until(client, import_id, lambda record: record["status"] == "applied")
    assert read(client, import_id)["counts"]["new"] == FEATURES
    assert client.get("/v1/projects?per_page=1").json["meta"]["total"] == FEATURES
    assert event_types(client).count("project.created") == FEATURES
