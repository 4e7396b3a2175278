"""The usage of an account: its counters, and its statistics beside the limits of its plan."""

from __future__ import annotations

from app.usage.counters import ProjectContribution as ProjectContribution  # all re-exported
from app.usage.counters import check_thresholds as check_thresholds
from app.usage.counters import count_bytes as count_bytes
from app.usage.counters import count_member as count_member
from app.usage.counters import count_project as count_project
from app.usage.counters import counters as counters
from app.usage.counters import lock_counters as lock_counters
from app.usage.counters import next_version as next_version
from app.usage.counters import note_new_shapes as note_new_shapes
from app.usage.counters import project_total as project_total
from app.usage.counters import recount as recount
from app.usage.counters import summary as summary
from app.usage.deprecations import DeprecationUse as DeprecationUse
from app.usage.deprecations import deprecation_record as deprecation_record
from app.usage.deprecations import read_deprecations as read_deprecations
from app.usage.record import requests_record as requests_record
from app.usage.requests import CSV as CSV
from app.usage.requests import CallerRequests as CallerRequests
from app.usage.requests import Requests as Requests
from app.usage.requests import csv_name as csv_name
from app.usage.requests import days_between as days_between
from app.usage.requests import known_days as known_days
from app.usage.requests import last_days as last_days
from app.usage.requests import read_requests as read_requests
from app.usage.requests import requests_csv as requests_csv
from app.usage.statistics import requests_today as requests_today
from app.usage.statistics import statistics as statistics
