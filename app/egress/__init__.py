"""The only way out of the service to addresses that customers gave.

A name is resolved, every address that it has is judged by ``addresses``, and the connection goes to
an address that was judged. Nothing else is asked, followed or believed: no proxy or netrc of the
environment, no redirect, no certificate that is not valid for the name.
"""

from __future__ import annotations

from app.egress.addresses import Network
from app.egress.attempt import EgressError, Timing
from app.egress.client import Answer, Egress
from app.egress.resolving import Resolve
from app.egress.targets import Target, parse_target

__all__ = [
    "Answer",
    "Egress",
    "EgressError",
    "Network",
    "Resolve",
    "Target",
    "Timing",
    "parse_target",
]
