"""What other packages use of maintenance."""

from __future__ import annotations

from app.maintenance.indexes import count_faults as count_faults
from app.maintenance.schema import is_half_copied as is_half_copied
from app.maintenance.schema import revision_of as revision_of
from app.maintenance.sealed import require_usable_key as require_usable_key
from app.maintenance.sealed import sealed_values as sealed_values
