"""The undocumented names of gunicorn and RQ that the service uses are those of the pinned version.

When a test fails after an upgrade: read what changed in the library, change the module that uses
it, then the version it names and the lines here.
"""

from __future__ import annotations

import inspect
import re
from importlib.metadata import version
from typing import Any

from gunicorn import http, util
from gunicorn.config import Config
from gunicorn.http import parser, unreader, wsgi
from gunicorn.workers import base
from redis import Redis
from rq import Queue, Worker
from rq.executions import ExecutionRegistry
from rq.intermediate_queue import IntermediateQueue
from rq.job import Job

from app.jobs.queue import job_queue
from app.processes import rq_worker
from app.processes.web_server import gunicorn_worker
from app.values import clock
from config import ROOT

PINNED = {
    "gunicorn": gunicorn_worker.GUNICORN_VERSION,
    "rq": rq_worker.RQ_VERSION,
}


def test_the_versions_are_those_that_were_read() -> None:
    requirements = (ROOT / "requirements.in").read_text()
    for library, pinned in PINNED.items():
        assert version(library) == pinned
        assert re.findall(rf"^{library}==(\S+)", requirements, re.MULTILINE) == [pinned]


SIGNATURES: tuple[tuple[Any, str], ...] = (
    (base.Worker.init_process, "(self)"),
    (base.Worker.run, "(self)"),
    (base.Worker.notify, "(self)"),
    (base.Worker.handle_exit, "(self, sig, frame)"),
    (util.close, "(sock)"),
    (util.write_nonblock, "(sock, data, chunked=False)"),
    (http.get_parser, "(cfg, source, source_addr, http2_connection=False)"),
    (parser.Parser.finish_body, "(self, deadline=None, max_bytes=None)"),
    (unreader.Unreader.take_buffered, "(self)"),
    (wsgi.create, "(req, sock, client, server, cfg, response_class=None, response_args=())"),
    (wsgi.Response.start_response, "(self, status, headers, exc_info=None)"),
    (wsgi.Response.write, "(self, arg)"),
    (wsgi.Response.close, "(self)"),
    (wsgi.Response.default_headers, "(self)"),
    (wsgi.Response.force_close, "(self)"),
    (wsgi.Response.should_close, "(self)"),
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
)


def test_the_methods_have_the_same_parameters() -> None:
    for function, signature in SIGNATURES:
        parameters = [
            parameter.replace(annotation=parameter.empty)
            for parameter in inspect.signature(function).parameters.values()
        ]
        shown = str(inspect.Signature(parameters))
        assert re.sub(r"(sig)=[^,)]+", r"\1", shown) == signature, function


def test_the_settings_of_gunicorn_can_be_attributes() -> None:
    config = Config()
    settings = {name: setting.get() for name, setting in config.settings.items()}
    before = {name: getattr(config, name) for name in settings}
    config.__dict__.update(settings)
    assert {name: getattr(config, name) for name in settings} == before


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
