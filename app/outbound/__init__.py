"""The HTTP client of this service; nothing else sends HTTP requests to other servers.

A URL that a customer gave: its name is resolved, ``addresses`` checks every address of it, and the
connection goes to an address that was checked. A URL of the operator's settings may lead anywhere.
For both, one deadline covers everything, and what is read has a limit. No proxy or netrc of the
environment is used, no redirect is followed, and no certificate is accepted that is not valid for
the name.

``client`` is the entry point: ``Egress.request``, and ``Egress.post`` for deliveries. It uses, in
this order:

* ``targets``: parsing the URL, and checking that it may be called;
* ``connection_pool``: a connection that was kept;
* ``resolving`` and ``addresses``: the IP addresses of the name, all of which must be allowed;
* ``connecting`` and ``connection``: a socket, and TLS on it;
* ``exchange``: the request and the response.

``attempt`` has what all of them share: one deadline, the times that each step took, and the error.
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
