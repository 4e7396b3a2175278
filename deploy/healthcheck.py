"""Exit code 0 when the web server of this container answers, else 1. Run by Docker.

It asks /healthz, which looks at no other part: a container is not better for a restart while the
database is away. Standard library only, and quick to start.
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
