"""What other packages use of deliveries."""

from __future__ import annotations

from app.deliveries.cancellation import cancel_pending as cancel_pending
from app.deliveries.cancellation import end_replays as end_replays
from app.deliveries.metrics import read_attempts as read_attempts
from app.deliveries.metrics import read_backlog as read_backlog
from app.deliveries.metrics import read_latency as read_latency
