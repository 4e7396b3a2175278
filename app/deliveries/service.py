"""What other packages use of deliveries."""

from __future__ import annotations

from app.deliveries.cancellation import cancel_pending as cancel_pending
from app.deliveries.cancellation import end_replays as end_replays
from app.deliveries.signing import new_secret as new_secret
from app.deliveries.signing import request_headers as request_headers
from app.deliveries.signing import signatures as signatures
