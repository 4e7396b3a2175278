"""HTTP requests to URLs that customers gave; nothing else may send them.

A name is resolved, ``addresses`` checks every address of it, and the connection goes to an address
that was checked. No proxy or netrc of the environment is used, no redirect is followed, and no
certificate is accepted that is not valid for the name.

``client`` is the way in: ``Egress.post``. It asks, in this order:

* ``targets``: is this a URL that may be called;
* ``connection_pool``: is there a connection that was kept;
* ``resolving`` and ``addresses``: which IP addresses the name has, and whether each is allowed;
* ``connecting`` and ``securing``: a socket, and TLS on it;
* ``exchange``: the request out, the response in.

``attempt`` has what all of them share: one deadline, the times that each step took, and the error.
"""

from __future__ import annotations

from app.outbound.addresses import Network, may_be_called
from app.outbound.attempt import EgressError, Timing
from app.outbound.client import Egress, Response
from app.outbound.resolving import Resolve
from app.outbound.targets import Target, parse_target

__all__ = [
    "Egress",
    "EgressError",
    "Network",
    "Resolve",
    "Response",
    "Target",
    "Timing",
    "may_be_called",
    "parse_target",
]
