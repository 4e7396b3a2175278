"""Rows about web servers, workers and the way to them."""

from __future__ import annotations

import time

from tests.egress.receivers import answering
from tests.machines.topology import ADDRESSES, Machines

LASTS = 14.0  # seconds that a fault lasts
DELAY = 1.0  # seconds
BALANCERS = (ADDRESSES["haproxy"], ADDRESSES["nginx"])


def web_cut(at: Machines) -> None:
    at.timeline.note("the link of web1 is down")
    at.host("web1").cut()
    time.sleep(LASTS)
    at.timeline.note("it is up again")
    at.host("web1").join()
    time.sleep(LASTS / 2)


def web_killed(at: Machines) -> None:
    at.timeline.note("all processes of web1 are killed")
    at.host("web1").kill()
    time.sleep(LASTS)
    at.timeline.note("web1 starts again")
    at.process("web1").begin()
    at.process("web1").wait()
    time.sleep(LASTS / 2)


def path_cut(at: Machines) -> None:
    at.timeline.note("nothing gets back from web1 to the balancers")
    at.host("web1").drop_replies_to(*BALANCERS)
    time.sleep(LASTS)
    at.timeline.note("it gets back again")
    at.host("web1").reply_to(*BALANCERS)
    time.sleep(LASTS / 2)


def workers_cut(at: Machines) -> None:
    _have_requests_in_flight(at)
    for name in ("worker1", "worker2"):
        at.timeline.note(f"the link of {name} is down", 0, 0)
        at.host(name).cut()
        time.sleep(LASTS)
        at.timeline.note("it is up again", 0, 0)
        at.host(name).join()
        time.sleep(LASTS / 4)


def workers_killed(at: Machines) -> None:
    _have_requests_in_flight(at)
    for name in ("worker1", "worker2"):
        at.timeline.note(f"all processes of {name} are killed", 0, 0)
        at.host(name).kill()
        time.sleep(LASTS)
        at.timeline.note("it starts again", 0, 0)
        at.process(name).begin()
        time.sleep(LASTS / 2)


def _have_requests_in_flight(at: Machines) -> None:
    """Have receivers respond so late that workers have always claimed some deliveries."""
    for customer in at.customers:
        customer.inbox.answer = answering(delay=DELAY)
    time.sleep(2 * DELAY)
