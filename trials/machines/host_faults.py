"""Faults of web servers, workers and the path to them."""

from __future__ import annotations

import time
from functools import partial

from tests.outbound.receivers import answering
from trials.machines.topology import ADDRESSES, Machines

LASTS = 14.0  # seconds that a fault lasts
DELAY = 1.0  # seconds
BALANCERS = (ADDRESSES["haproxy"], ADDRESSES["nginx"])


def web_cut(at: Machines) -> None:
    web = at.host("web1")
    at.fault("the link of web1 is down", web.cut, web.join, LASTS)
    time.sleep(LASTS / 2)


def web_killed(at: Machines) -> None:
    process = at.process("web1")
    at.fault("all processes of web1 are killed", at.host("web1").kill, process.begin, LASTS)
    process.wait()
    time.sleep(LASTS / 2)


def path_cut(at: Machines) -> None:
    web = at.host("web1")
    what = "nothing gets back from web1 to the balancers"
    at.fault(
        what, partial(web.drop_replies_to, *BALANCERS), partial(web.reply_to, *BALANCERS), LASTS
    )
    time.sleep(LASTS / 2)


def workers_cut(at: Machines) -> None:
    _have_requests_in_flight(at)
    for name in ("worker1", "worker2"):
        worker = at.host(name)
        at.fault(f"the link of {name} is down", worker.cut, worker.join, LASTS, allowed=0)
        time.sleep(LASTS / 4)


def workers_killed(at: Machines) -> None:
    _have_requests_in_flight(at)
    for name in ("worker1", "worker2"):
        what = f"all processes of {name} are killed"
        at.fault(what, at.host(name).kill, at.process(name).begin, LASTS, allowed=0)
        time.sleep(LASTS / 2)


def _have_requests_in_flight(at: Machines) -> None:
    """Have receivers respond so late that workers have always claimed some deliveries."""
    for customer in at.customers:
        customer.inbox.answer = answering(delay=DELAY)
    time.sleep(2 * DELAY)
