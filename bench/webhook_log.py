"""How quick the pages of a webhook are whose log has a million attempts.

python -m bench.webhook_log              SQLite
python -m bench.webhook_log --postgres   PostgreSQL, a server of its own
python -m bench.webhook_log --write      written into docs/measured/webhook-log.md too
python -m bench.webhook_log --quick      only sees that it works

The attempts are of 30 days, one in twenty failed. The pages are asked in-process, one after the
other: the first time, when nothing is counted yet, and the median of the times after it.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import psycopg
from flask.testing import FlaskClient
from sqlalchemy import Table, select
from ulid import ULID

from app.auth.principal import Principal
from app.auth.sessions import start_session
from app.db.extensions import db
from app.models import AttemptCount, DeliveryLog
from app.policy.deliveries import LOG_DAYS
from app.policy.events import EVENTS, TEST_EVENT
from app.values import clock
from app.values.ids import PREFIXES, new_id
from app.webhooks.deliveries.attempt_counts import round_up
from app.webhooks.service import create_webhook
from bench.databases import measure_on_chosen
from bench.effort import Effort
from bench.filling import BATCH, make_accounts, vacuum

FULL: Final = Effort(rounds=9, seconds=0.0)
_ATTEMPTS: Final = 1_000_000
_FAILED: Final = 0.05
_TARGET: Final = 100  # milliseconds
_PER_PAGE: Final = 25  # of the page of a webhook
_HEAD: Final = "| Page | First time | Then | Target | |\n|---|---:|---:|---:|---|"

Row = tuple[Any, ...]


def run(folder: Path, new_database: Callable[[], str], effort: Effort) -> str:
    """The table of one database."""
    url, number = new_database(), effort.number(_ATTEMPTS)
    app, _, principals, _ = make_accounts(folder, url, 1)
    principal = principals[0]
    with app.app_context():
        webhook_id = create_webhook(
            principal, url="https://hooks.example.org/log", events=["*"]
        ).record["id"]
        token = start_session(principal.user_id, principal.account_id, address="", browser="")
        db.session.commit()
        log_id = _fill(url, principal, webhook_id, number)
        places = [_id_at(place) for place in (min(_PER_PAGE, number - 1), number // 2)]
    vacuum(url)
    client = app.test_client()
    client.set_cookie("canopy_session", token)
    pages = _pages(f"/webhooks/{webhook_id}", log_id, *places)
    return "\n".join([_HEAD, *(_line(client, *page, effort.rounds) for page in pages)])


def _pages(path: str, log_id: str, early_id: str, middle_id: str) -> Iterator[tuple[str, str]]:
    """What each page is, and its address."""
    now = clock.now()
    ago = {days: clock.format_time(now - timedelta(days=days)) for days in (10, 11, LOG_DAYS)}
    yield "all webhooks", "/webhooks"
    for what, query in (
        ("one webhook, page 1", {}),
        ("page in the middle", {"before": middle_id}),
        ("last page", {"before": early_id}),
        ("failed", {"status": "failed"}),
        ("succeeded", {"status": "success"}),
        ("one type of event", {"event_type": "asset.created"}),
        ("failed, of one type", {"status": "failed", "event_type": "asset.created"}),
        ("a type that never came", {"event_type": TEST_EVENT}),
        ("one day", {"since": ago[11], "until": ago[10]}),
        ("failed, one day", {"since": ago[11], "until": ago[10], "status": "failed"}),
        (f"since {LOG_DAYS} days ago", {"since": ago[LOG_DAYS]}),
        ("charts of 7 days", {"days": 7}),
        ("charts of 30 days", {"days": 30}),
    ):
        yield what, f"{path}?{urlencode(query)}"
    yield "one attempt", f"{path}/logs/{log_id}"


def _id_at(place: int) -> str:
    """The id of the entry before which there are so many."""
    ids = select(DeliveryLog.id).order_by(DeliveryLog.id).offset(place).limit(1)
    return str(db.session.scalars(ids).one())


def _line(client: FlaskClient, what: str, path: str, rounds: int) -> str:
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        answer = client.get(path)
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, (path, answer.status)
    middle = statistics.median(times[1:])
    mark = "met" if middle <= _TARGET else "**missed**"
    return f"| {what} | {times[0]:.0f} ms | {middle:.0f} ms | ≤ {_TARGET} ms | {mark} |"


def _fill(url: str, principal: Principal, webhook_id: str, number: int) -> str:
    """Attempts and their counts, past the service. Returns the id of the last entry."""
    counts: Counter[Row] = Counter()
    entries = _entries(principal.account_id, webhook_id, number, counts)
    last = ""
    table = DeliveryLog.__table__
    while batch := list(islice(entries, BATCH)):
        insert_rows(url, table, batch)
        last = batch[-1][0]
    rows = [(*key, how_many) for key, how_many in counts.items()]
    insert_rows(url, AttemptCount.__table__, rows)
    return last


def _entries(account_id: str, webhook_id: str, number: int, counts: Counter[Row]) -> Iterator[Row]:
    """Rows of the log, the oldest first; each is added to ``counts``."""
    rng, types, now = random.Random(number), tuple(EVENTS), clock.now()
    event_id, delivery_id = new_id("event"), new_id("delivery")
    for place in range(number):
        moment = now - timedelta(days=LOG_DAYS) * (1 - place / number) + timedelta(minutes=5)
        moment = clock.to_millisecond(min(moment, now))
        has_failed = rng.random() < _FAILED
        took = round(rng.lognormvariate(4, 0.8))
        status = "failed" if has_failed else "success"
        hour = moment.replace(minute=0, second=0, microsecond=0)
        step = 0 if has_failed else round_up(took)
        counts[account_id, webhook_id, clock.format_time(hour), status, step] += 1
        text = clock.format_time(moment)
        code, error = (503, "answered 503") if has_failed else (204, None)
        yield (
            _id(rng, moment), account_id, webhook_id, delivery_id if place == number - 1 else
            f"dlv_{place:026}", event_id, rng.choice(types), "event", 1, status, code, took, error,
            text, text, None, 1, 9, 10, took,
        )  # fmt: skip


def _id(rng: random.Random, moment: datetime) -> str:
    number = int(moment.timestamp() * 1000) << 80 | rng.getrandbits(80)
    return PREFIXES["log"] + str(ULID.from_int(number)).lower()


def insert_rows(url: str, table: Any, rows: Sequence[Row]) -> None:
    """Rows of all columns, in the order of the table's."""
    assert isinstance(table, Table)
    names = ", ".join(column.name for column in table.columns)
    if url:
        sql = f"COPY {table.name} ({names}) FROM STDIN"
        with psycopg.connect(url) as connection, connection.cursor().copy(sql) as copy:
            for row in rows:
                copy.write_row(row)
        return
    marks = ", ".join("?" * len(table.columns))
    with closing(sqlite3.connect(str(db.engine.url.database))) as connection, connection:
        connection.executemany(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", rows)


def main() -> None:
    measure_on_chosen(run, "webhook-log", __doc__, FULL)


if __name__ == "__main__":
    main()
