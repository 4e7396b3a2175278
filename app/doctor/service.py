"""What other packages use of doctor."""

from __future__ import annotations

from app.doctor.doctor import run_checks as run_checks
