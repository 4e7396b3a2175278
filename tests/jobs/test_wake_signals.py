"""No signal is lost, and no jobs pile up."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue

from app.events.outbox import NEW_DELIVERIES
from app.jobs import wake_signals
from app.jobs.queue import DELIVERIES, QUEUES, job_queue
from app.jobs.valkey import connect_valkey
from app.jobs.wake_signals import WakeSignal
from app.policy.deliveries import ATTEMPT_SECONDS, RUN_SECONDS
from tests.waiting import PATIENCE, wait_for

SIGNAL = WakeSignal("test", DELIVERIES, 77, "app.test.jobs.drain")


@pytest.fixture(autouse=True)
def _nothing_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever got no turn for seconds finds what was sent before."""
    monkeypatch.setattr(wake_signals, "QUEUED_TTL", 500)
    monkeypatch.setattr(wake_signals, "SENT_TTL", 600)


@pytest.fixture
def valkey(valkey_url: str) -> Iterator[Redis]:
    """A client with the timeouts of the service, in a database that nobody else uses."""
    valkey = connect_valkey(f"{valkey_url}?db=11")
    valkey.flushdb()
    yield valkey
    valkey.flushdb()
    valkey.close()


@pytest.fixture
def queue(valkey: Redis) -> Queue:
    return job_queue(valkey, SIGNAL.queue)


def test_one_job_waits_however_often_it_is_notified(valkey: Redis, queue: Queue) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: SIGNAL.notify(valkey), range(50))) == 1
    (job,) = queue.jobs
    assert (job.func_name, job.args, job.timeout) == ("app.test.jobs.drain", [], 77)


def test_a_job_that_waits_for_long_stays_the_only_one(valkey: Redis, queue: Queue) -> None:
    SIGNAL.notify(valkey)
    valkey.delete(SIGNAL._queued)  # as it expires
    queue.enqueue("app.other.jobs.work")
    assert not SIGNAL.notify(valkey)
    assert valkey.ttl(SIGNAL._queued) > 300


def test_a_job_that_was_killed_before_it_began_is_followed_by_another(
    valkey: Redis, queue: Queue
) -> None:
    SIGNAL.notify(valkey)
    queue.pop_job_id()
    assert 0 < valkey.ttl(SIGNAL._queued) <= 500
    valkey.delete(SIGNAL._queued)  # as it expires
    assert SIGNAL.notify(valkey)


def test_no_order_of_events_loses_a_signal(valkey: Redis, queue: Queue) -> None:
    """What is due is seen by the job that begins next, and there always is one to come."""
    chance, due, taken = random.Random(1), False, 0
    for _ in range(400):
        match chance.choice(["change", "take", "begin", "forget"]):
            case "change":
                due = True
                SIGNAL.notify(valkey)
            case "take" if queue.count:
                queue.pop_job_id()
                taken += 1
            case "begin" if taken:
                taken, due = taken - 1, False
                SIGNAL.begin(valkey)
            case "forget" if queue.count:  # after 30 seconds, for it waits behind a long one
                valkey.delete(SIGNAL._queued)
        assert not due or taken or queue.count
        assert queue.count <= 1


def test_a_signal_is_received_once_also_afterwards(valkey: Redis) -> None:
    for _ in range(3):
        SIGNAL.notify(valkey)
    assert SIGNAL.wait(valkey, 0.1)
    assert not SIGNAL.wait(valkey, 0.1)


def test_a_job_that_begins_has_received_earlier_signals(valkey: Redis) -> None:
    SIGNAL.notify(valkey)
    SIGNAL.begin(valkey)
    assert not SIGNAL.wait(valkey, 0.1)


def test_a_signal_that_nobody_received_expires(valkey: Redis) -> None:
    SIGNAL.notify(valkey)
    assert 0 < valkey.ttl(SIGNAL._sent) <= 600


def _is_connected(valkey: Redis) -> bool:
    with contextlib.suppress(RedisError):
        return bool(valkey.ping())
    return False


def test_a_signal_ends_the_wait_which_may_be_longer_than_other_commands(
    valkey: Redis, valkey_url: str
) -> None:
    waiting = connect_valkey(f"{valkey_url}?db=11", timeout=0.25)
    wait_for(lambda: _is_connected(waiting))
    timer = threading.Timer(0.6, SIGNAL.notify, [valkey])
    began = time.monotonic()
    timer.start()
    assert SIGNAL.wait(waiting, PATIENCE)
    assert time.monotonic() - began > 0.5
    timer.join()
    waiting.close()


def test_a_wait_ends(valkey: Redis) -> None:
    began = time.monotonic()
    assert not SIGNAL.wait(valkey, 0.3)
    assert time.monotonic() - began > 0.2


def test_one_of_those_who_wait_receives_a_signal(valkey: Redis) -> None:
    with ThreadPoolExecutor(3) as pool:
        heard = [pool.submit(SIGNAL.wait, valkey, 0.6) for _ in range(3)]
        time.sleep(0.3)
        SIGNAL.notify(valkey)
        assert sorted(future.result() for future in heard) == [False, False, True]


def test_a_frozen_valkey_gives_nobody_a_late_answer(
    valkey: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection whose answer did not come in time is not used again."""
    valkey.client_pause(3_600_000, all=False)  # commands that write
    monkeypatch.setattr(wake_signals, "TIMEOUT_SECONDS", 0.25)
    try:
        with pytest.raises(RedisError):
            SIGNAL.wait(valkey, 0.2)
    finally:
        valkey.client_unpause()
    assert valkey.set("key", "value") is True
    assert valkey.get("key") == b"value"


def test_a_wait_that_is_cut_short_leaves_no_answer_to_anybody(
    valkey: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the time of the job is over."""

    def end(*_: object, **__: object) -> None:
        raise TimeoutError("the job took too long")

    connection = valkey.connection_pool.get_connection()
    valkey.connection_pool.release(connection)
    with monkeypatch.context() as patch:
        patch.setattr(connection, "read_response", end)
        with pytest.raises(TimeoutError):
            SIGNAL.wait(valkey, 2)
    assert valkey.get("key") is None


def test_the_job_of_deliveries_ends_by_itself_before_its_timeout() -> None:
    assert NEW_DELIVERIES.queue in QUEUES
    assert NEW_DELIVERIES.job_timeout > RUN_SECONDS + ATTEMPT_SECONDS
