"""The undocumented names of gunicorn and RQ that the service uses are those of the pinned version.

When a test fails after an upgrade: read what changed in the library, change the module that uses
it, then the version it names and the lines here.
"""

from __future__ import annotations

import inspect
import re
import socket
from importlib.metadata import version
from typing import Any

import pytest
from gunicorn import http, util
from gunicorn.config import Config
from gunicorn.http import errors, message, parser, unreader, wsgi
from gunicorn.workers import gthread
from redis import Redis
from rq import Queue, Worker
from rq.executions import ExecutionRegistry
from rq.intermediate_queue import IntermediateQueue
from rq.job import Job, JobStatus

from app.jobs.queue import job_queue
from app.processes import rq_worker
from app.processes.web_server import gunicorn_worker, refusals
from app.values import clock
from config import ROOT

PINNED = {
    "gunicorn": gunicorn_worker.GUNICORN_VERSION,
    "rq": rq_worker.RQ_VERSION,
}


@pytest.mark.parametrize("library", PINNED)
def test_the_version_is_the_one_that_was_read(library: str) -> None:
    assert version(library) == PINNED[library]
    requirements = (ROOT / "requirements.in").read_text()
    assert re.findall(rf"^{library}==(\S+)", requirements, re.MULTILINE) == [PINNED[library]]


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (gthread.ThreadWorker.init_process, "(self)"),
        (gthread.ThreadWorker.accept, "(self, listener)"),
        (gthread.ThreadWorker.enqueue_req, "(self, conn)"),
        (gthread.ThreadWorker.finish_request, "(self, conn, fs)"),
        (gthread.PollableMethodQueue.defer, "(self, callback, *args)"),
        (gthread.ThreadWorker.on_pending_socket_readable, "(self, conn, client)"),
        (gthread.ThreadWorker.murder_keepalived, "(self, force=False)"),
        (gthread.ThreadWorker.handle, "(self, conn)"),
        (gthread.ThreadWorker.handle_request, "(self, req, conn)"),
        (gthread.ThreadWorker.handle_error, "(self, req, client, addr, exc)"),
        (gthread.ThreadWorker.murder_pending, "(self)"),
        (gthread.ThreadWorker.notify, "(self)"),
        (gthread.TConn.close, "(self, graceful=False)"),
        (util.close, "(sock)"),
        (util.write_nonblock, "(sock, data, chunked=False)"),
        (http.get_parser, "(cfg, source, source_addr, http2_connection=False)"),
        (parser.Parser.finish_body, "(self, deadline=None, max_bytes=None)"),
        (unreader.Unreader.take_buffered, "(self)"),
        (unreader.Unreader.unread, "(self, data)"),
        (wsgi.Response.__init__, "(self, req, sock, cfg)"),
        (wsgi.Response.default_headers, "(self)"),
        (wsgi.Response.can_sendfile, "(self)"),
        (message.Message.force_close, "(self)"),
        (Worker.fork_work_horse, "(self, job, queue)"),
        (Worker.monitor_work_horse, "(self, job, queue)"),
        (Worker.main_work_horse, "(self, job, queue)"),
        (Worker.kill_horse, "(self, sig)"),
        (Worker.register_birth, "(self)"),
        (Worker.register_death, "(self)"),
        (Worker.run_maintenance_tasks, "(self)"),
        (Worker.prepare_execution, "(self, job)"),
        (Worker.wait_for_horse, "(self)"),
        (Worker.heartbeat, "(self, timeout=None, pipeline=None)"),
        (Worker.set_current_job_working_time, "(self, current_job_working_time, pipeline=None)"),
        (Worker.maintain_heartbeats, "(self, job)"),
        (ExecutionRegistry.get_executions, "(self, start=0, end=-1)"),
        (ExecutionRegistry.get_execution_ids, "(self, start=0, end=-1)"),
    ],
)
def test_the_methods_have_the_same_parameters(function: Any, signature: str) -> None:
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
    ]
    shown = str(inspect.Signature(parameters))
    assert re.sub(r"(sig)=[^,)]+", r"\1", shown) == signature


def test_gunicorn_calls_what_is_overridden() -> None:
    worker = gthread.ThreadWorker
    assert {"tpool", "submit", "handle"} <= set(worker.enqueue_req.__code__.co_names)
    (finish,) = filter(inspect.iscode, worker.enqueue_req.__code__.co_consts)
    assert {"method_queue", "defer", "finish_request"} <= set(finish.co_names)
    for caller in ("accept", "on_client_socket_readable", "on_pending_socket_readable"):
        assert "enqueue_req" in getattr(worker, caller).__code__.co_names
    assert {"enqueue_req", "unreader", "buf"} <= set(worker.finish_request.__code__.co_names)
    assert "accept" in worker.set_accept_enabled.__code__.co_names
    assert {"pending_conns", "timeout"} <= set(worker.murder_pending.__code__.co_names)
    assert {"keepalived_conns", "timeout"} <= set(worker.murder_keepalived.__code__.co_names)
    assert "handle_request" in worker.handle.__code__.co_names
    in_loop = {"murder_pending", "notify", "nr_conns", "worker_connections", "alive"}
    assert in_loop <= set(worker.run.__code__.co_names)
    assert "nr_conns" in worker.accept.__code__.co_names
    assert "should_close" in wsgi.Response.should_close.__code__.co_names
    assert "must_close" in message.Message.should_close.__code__.co_names
    assert "poller" in worker.init_process.__code__.co_names
    assert {"Response", "_expected_100_continue"} <= set(wsgi.create.__code__.co_names)
    assert wsgi.Response is gunicorn_worker.BufferedResponse
    assert "can_sendfile" in wsgi.Response.sendfile.__code__.co_names
    for writer in (util.write, util.write_chunk):
        assert "sendall" in writer.__code__.co_names


def test_a_connection_of_gunicorn_has_the_attributes() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = gthread.TConn(Config(), ours, ("", 0), ("", 0))
        assert connection.sock is ours
        assert connection.client == ("", 0)
        assert (connection.parser, connection.timeout) == (None, None)
        connection.parser, connection.initialized = "ours", True
        connection.init()
        assert connection.parser == "ours"


def test_a_parser_of_gunicorn_reads_pieces_and_keeps_what_follows() -> None:
    pieces = iter([b"GET / HTTP/1.1\r\nHost: a\r\n", b"\r\nGET", b" /next"])
    parser = http.get_parser(Config(), pieces, ("127.0.0.1", 1))
    assert next(parser).path == "/"
    assert parser.unreader.take_buffered() + b"".join(pieces) == b"GET /next"


def test_the_errors_of_gunicorn_are_told_apart() -> None:
    for error, *_ in refusals.MALFORMED_REQUESTS:
        assert issubclass(error, errors.ParseException)


def test_rq_calls_what_is_overridden() -> None:
    execute = {"prepare_execution", "fork_work_horse", "monitor_work_horse"}
    assert execute <= set(Worker.execute_job.__code__.co_names)
    assert "wait_for_horse" in Worker.monitor_work_horse.__code__.co_names
    assert "main_work_horse" in Worker.fork_work_horse.__code__.co_names
    assert {"blmove", "IntermediateQueue"} <= set(Queue.lmove.__code__.co_names)
    for caller in (Job.get_executions, Job.delete):
        assert "execution_registry" in caller.__code__.co_names
    assert "get_executions" in ExecutionRegistry.delete.__code__.co_names


def test_a_job_of_rq_keeps_its_status_where_it_is_read(valkey_url: str) -> None:
    with Redis.from_url(valkey_url) as client:
        job = job_queue(client, "internals").create_job("fail")
        job.set_status(JobStatus.FAILED)
        assert client.hgetall(job.key) == {rq_worker.STATUS_FIELD.encode(): b"failed"}
        client.delete(job.key)


def test_a_worker_of_rq_has_the_attributes(valkey_url: str) -> None:
    with Redis.from_url(valkey_url) as client:
        queue = job_queue(client, "internals")
        assert queue.intermediate_queue_key == IntermediateQueue(queue.key, client).key
        worker = Worker([job_queue(client, "internals")], connection=client)
        assert worker.horse_pid == 0
        assert worker.pubsub_thread is None  # and so it stays, as nothing subscribes
        assert worker.should_run_maintenance_tasks
        assert (worker.queue_class, worker.job_class) == (Queue, Job)
        connection = client.connection_pool.get_connection()
        assert connection._sock.fileno() > 0
        client.connection_pool.release(connection)
        assert worker.get_redis_server_version()
        worker.register_birth()
        try:
            (key,) = client.smembers(rq_worker.workers_key("internals"))
            heartbeat = client.hget(key, rq_worker.HEARTBEAT_FIELD)
            age = clock.now() - rq_worker.parse_heartbeat(heartbeat)
            assert abs(age.total_seconds()) < 60
        finally:
            worker.register_death()
