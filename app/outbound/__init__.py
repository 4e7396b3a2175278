"""The HTTP client of this service; nothing else sends HTTP requests to other servers.

For a customer's URL, the name is resolved, ``addresses`` checks every address, and the connection
goes to an address that was checked. A URL in the operator's settings may lead anywhere. For both,
one deadline covers everything, and what is read has a limit. No proxy or netrc of the environment
is used, no redirect is followed, and the certificate must be valid for the name.

``client`` is the entry point: ``Egress.request``, and ``Egress.post`` for deliveries. It uses, in
this order:

* ``targets``: parsing the URL, and checking that it may be called;
* ``connection_pool``: a kept connection;
* ``resolving`` and ``addresses``: the IP addresses of the name that may be called;
* ``connecting`` and ``connection``: a socket, and TLS on it;
* ``exchange``: the request and the response.

They share ``attempt``: one deadline, the duration of each step, and the error.

``switch`` says whether this instance sends anything to customers and people at all.
"""

from __future__ import annotations

from app.outbound.addresses import is_address, may_be_called
from app.outbound.attempt import Attempt, EgressError, Timing
from app.outbound.client import Egress
from app.outbound.connection import TooLong
from app.outbound.targets import parse_target

__all__ = [
    "Attempt",
    "Egress",
    "EgressError",
    "Timing",
    "TooLong",
    "is_address",
    "may_be_called",
    "parse_target",
]
