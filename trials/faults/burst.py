"""A thousand requests at once against a limit: exactly as many pass as it allows."""

from __future__ import annotations

import http.client
import itertools
from collections import Counter
from pathlib import Path

from app.db.connections import close_all
from app.factory import create_app
from app.policy.limits import STANDARD
from config import load_settings
from tests.api.server import gunicorn
from tests.make import make_account, together

REQUESTS, CONNECTIONS, WORKERS = 1000, 8, 3
PLAN_LIMIT = 100
PLANS = f"[hundred]\nrequests_per_minute = {PLAN_LIMIT}\n"
TIER_LIMIT = STANDARD.requests


def bursts(folder: Path, valkey_url: str, runs: int) -> list[tuple[Counter[int], Counter[int]]]:
    """The statuses of each run: against a plan, and against a tier."""
    plans = folder / "plans.toml"
    plans.write_text(PLANS)
    environ = {
        "REDIS_URL": valkey_url,
        "PLANS_FILE": str(plans),
        "LOG_LEVEL": "error",
        "TRUSTED_PROXIES": "1",  # so that each run can be of another client
        "WEB_WORKERS": str(WORKERS),
    }
    with gunicorn(folder, **environ) as server:
        app = create_app(load_settings({"INSTANCE_PATH": str(folder)} | environ))
        found = []
        for number in range(runs):
            client = make_account(app, plan="hundred")
            address = {"X-Forwarded-For": f"198.51.100.{number}"}
            of_plan = _burst(server.port, "GET", "/v1/account", client.authorization | address)
            of_tier = _burst(server.port, "POST", "/api/onboarding/validate-slug", address)
            found.append((of_plan, of_tier))
        with app.app_context():
            close_all()
    return found


def _burst(port: int, method: str, path: str, headers: dict[str, str]) -> Counter[int]:
    body = b'{"slug": "green-woods"}' if method == "POST" else None
    sent = headers | ({"Content-Type": "application/json"} if body else {})
    numbers = itertools.count()

    def caller() -> Counter[int]:
        statuses: Counter[int] = Counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while next(numbers) < REQUESTS:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
        connection.close()
        return statuses

    return sum(together(*[caller] * CONNECTIONS), Counter())
