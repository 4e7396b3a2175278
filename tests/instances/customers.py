"""Customers of an instance that runs, with receivers for their webhooks."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from flask import Flask

from tests.make import Client, make_account
from tests.make.webhooks import make_webhook
from tests.outbound.authority import Authority
from tests.outbound.receivers import Answering, Exchange, Received, Receiver, answering

OUTSIDE = "127.0.0.2"  # webhooks may reach it


class Arrival(NamedTuple):
    """A request that came to a receiver, and when it had come as a whole."""

    at: float  # since the epoch
    request: Received

    @property
    def delivery_id(self) -> str:
        return self.request.headers["x-service-delivery"]


class Inbox:
    """A receiver that notes when each request came."""

    def __init__(self, certificate: Path, *, address: str = OUTSIDE) -> None:
        self.arrivals: list[Arrival] = []
        self.answer: Answering = answering()
        self.receiver = Receiver(certificate, address=address)
        self.receiver.answer = self._receive

    def _receive(self, exchange: Exchange) -> bool:
        self.arrivals.append(Arrival(time.time(), exchange.request))
        return self.answer(exchange)


@dataclass
class Customer:
    """An account, a webhook of it, and where that leads to."""

    client: Client
    webhook: dict[str, Any]
    inbox: Inbox


@dataclass
class Instance:
    """A running instance whose customers have receivers."""

    folder: Path
    app: Flask
    port: int
    authority: Authority
    stack: ExitStack

    def customer(self, plan: str = "enterprise", *, address: str = OUTSIDE) -> Customer:
        """An account of its own with a webhook for created projects."""
        client = make_account(self.app, plan=plan)
        inbox = Inbox(self.authority.certificate_for([address]), address=address)
        self.stack.callback(inbox.receiver.close)
        url = inbox.receiver.url(host=address)
        return Customer(client, make_webhook(client, url=url, events=["project.created"]), inbox)
