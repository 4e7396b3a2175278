"""What other pages show of the usage of an account."""

from __future__ import annotations

from app.dashboard.usage.meters import Meter as Meter
from app.dashboard.usage.meters import meters as meters
