"""The deletion of accounts, and how long it can be canceled."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

DELETED_AFTER: Final = timedelta(days=7)  # since an owner asked for it
