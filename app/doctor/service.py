"""What other packages use of doctor."""

from __future__ import annotations

from app.doctor.doctor import examine as examine
