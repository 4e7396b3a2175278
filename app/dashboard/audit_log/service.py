"""What the page of the instance's own log shares with this one."""

from __future__ import annotations

from app.dashboard.audit_log.filters import LogFilters as LogFilters
from app.dashboard.audit_log.filters import read_filters as read_filters
from app.dashboard.audit_log.lines import lines_of as lines_of
from app.dashboard.audit_log.sentences import OF_INSTANCE as OF_INSTANCE
from app.dashboard.problems import refuse as refuse
