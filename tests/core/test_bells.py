"""No ring is lost, and no jobs pile up."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue

from app.core.bells import BELLS, DELIVERIES_BELL, Bell
from app.core.queue import DELIVERIES, QUEUES, job_queue
from app.core.store import connect
from app.policy.deliveries import ATTEMPT_SECONDS, RUN_SECONDS

BELL = Bell("test", "app.test.jobs.drain", DELIVERIES, 77)


@pytest.fixture
def client(valkey_url: str) -> Iterator[Redis]:
    """A client with the timeouts of the service, in a database that nobody else uses."""
    client = connect(f"{valkey_url}?db=11")
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


@pytest.fixture
def queue(client: Redis) -> Queue:
    return job_queue(client, BELL.queue)


def test_one_job_waits_however_often_it_is_rung(client: Redis, queue: Queue) -> None:
    assert [BELL.ring(client) for _ in range(3)] == [True, False, False]
    (job,) = queue.jobs
    assert (job.func_name, job.args, job.timeout) == ("app.test.jobs.drain", [], 77)


def test_many_who_ring_at_once_put_one_job_there(client: Redis, queue: Queue) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: BELL.ring(client), range(200))) == 1
    assert queue.count == 1


def test_a_ring_after_the_job_began_puts_one_more_behind_it(client: Redis, queue: Queue) -> None:
    BELL.ring(client)
    (first,) = queue.job_ids
    queue.pop_job_id()
    assert not BELL.ring(client)
    BELL.begin(client)
    assert BELL.ring(client)
    assert not BELL.ring(client)
    (second,) = queue.job_ids
    assert first != second


def test_a_job_that_waits_for_long_stays_the_only_one(client: Redis, queue: Queue) -> None:
    BELL.ring(client)
    client.delete(BELL._queued)  # as it expires
    queue.enqueue("app.other.jobs.work")
    assert not BELL.ring(client)
    assert client.ttl(BELL._queued) > 25


def test_a_job_of_another_bell_is_no_reason_to_put_none(client: Redis) -> None:
    Bell("test2", BELL.job, BELL.queue, 1).ring(client)
    assert BELL.ring(client)


def test_a_job_that_was_killed_before_it_began_is_followed_by_another(
    client: Redis, queue: Queue
) -> None:
    BELL.ring(client)
    queue.pop_job_id()
    assert 0 < client.ttl(BELL._queued) <= 30
    client.delete(BELL._queued)  # as it expires
    assert BELL.ring(client)


def test_no_order_of_what_happens_loses_a_ring(client: Redis, queue: Queue) -> None:
    """What is due is seen by the job that begins next, and there always is one to come."""
    chance, due, taken = random.Random(1), False, 0
    for _ in range(1000):
        match chance.choice(["change", "take", "begin", "forget"]):
            case "change":
                due = True
                BELL.ring(client)
            case "take" if queue.count:
                queue.pop_job_id()
                taken += 1
            case "begin" if taken:
                taken, due = taken - 1, False
                BELL.begin(client)
            case "forget" if queue.count:  # after 30 seconds, for it waits behind a long one
                client.delete(BELL._queued)
        assert not due or taken or queue.count
        assert queue.count <= 1


def test_a_ring_is_one_round_trip(
    client: Redis, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    BELL.ring(client)
    connection = client.connection_pool.get_connection()
    client.connection_pool.release(connection)
    sent = []
    send = type(connection).send_packed_command
    monkeypatch.setattr(
        type(connection),
        "send_packed_command",
        lambda self, *args, **more: sent.append(1) or send(self, *args, **more),
    )
    BELL.ring(client)
    assert sent == [1]


def test_a_ring_is_heard_once_also_afterwards(client: Redis) -> None:
    for _ in range(3):
        BELL.ring(client)
    assert BELL.wait(client, 0.1)
    assert not BELL.wait(client, 0.1)


def test_a_job_that_begins_has_heard_what_it_was_rung_for(client: Redis) -> None:
    BELL.ring(client)
    BELL.begin(client)
    assert not BELL.wait(client, 0.1)


def test_a_ring_that_nobody_heard_is_forgotten(client: Redis) -> None:
    BELL.ring(client)
    assert 0 < client.ttl(BELL._rung) <= 60


def test_a_ring_ends_the_wait_which_may_be_longer_than_other_commands(client: Redis) -> None:
    timer = threading.Timer(0.6, BELL.ring, [client])
    timer.start()
    began = time.monotonic()
    assert BELL.wait(client, 5)
    assert 0.5 < time.monotonic() - began < 1.5
    timer.join()


def test_a_wait_ends(client: Redis) -> None:
    began = time.monotonic()
    assert not BELL.wait(client, 0.5)
    assert 0.4 < time.monotonic() - began < 1.5


def test_one_of_those_who_wait_hears_a_ring(client: Redis) -> None:
    with ThreadPoolExecutor(3) as pool:
        heard = [pool.submit(BELL.wait, client, 1) for _ in range(3)]
        time.sleep(0.3)
        BELL.ring(client)
        assert sorted(future.result() for future in heard) == [False, False, True]


def test_a_store_that_does_not_answer_ends_the_wait() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        hanging = connect(f"redis://127.0.0.1:{server.getsockname()[1]}/0")
        with pytest.raises(RedisError):
            BELL.wait(hanging, 0.2)
        hanging.close()


def test_a_store_that_is_frozen_for_a_while_gives_nobody_a_late_answer(client: Redis) -> None:
    """The connection whose answer did not come in time is not used again."""
    client.client_pause(1000)
    with pytest.raises(RedisError):
        BELL.wait(client, 0.2)
    time.sleep(1)
    assert client.set("key", "value") is True
    assert client.get("key") == b"value"


def test_a_wait_that_is_cut_short_leaves_no_answer_to_anybody(
    client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the time of the job is over."""

    def end(*_: object, **__: object) -> None:
        raise TimeoutError("the job took too long")

    connection = client.connection_pool.get_connection()
    client.connection_pool.release(connection)
    with monkeypatch.context() as patch:
        patch.setattr(connection, "read_response", end)
        with pytest.raises(TimeoutError):
            BELL.wait(client, 2)
    assert client.get("key") is None


def test_bells_have_names_and_queues() -> None:
    assert {name: bell.name for name, bell in BELLS.items()} == {name: name for name in BELLS}
    assert {bell.queue for bell in BELLS.values()} <= set(QUEUES)
    assert DELIVERIES_BELL.job_timeout > RUN_SECONDS + ATTEMPT_SECONDS
