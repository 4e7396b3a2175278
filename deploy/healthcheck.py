"""Exits with 0 if the web server of this container responds, otherwise with 1. Docker runs it.

It requests /healthz, which checks no other part: restarting the container does not help while the
database is down. Standard library only, and quick to start.
"""

import http.client
import os
import sys

port = int(os.environ.get("PORT") or 8000)
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
try:
    connection.request("GET", "/healthz")
    answered = connection.getresponse().status == 200
except (OSError, http.client.HTTPException):
    answered = False
sys.exit(0 if answered else 1)
