"""The service without some of its parts (``bench.parts``), for the web server to load."""

from __future__ import annotations

import os

from bench import replacing
from bench.parts import leave_out
from bench.servers import LEFT_OUT

leave_out(os.environ.get(LEFT_OUT, ""))

from wsgi import app  # noqa: E402 - made when its parts have been left out

replacing.add_unused_route(app)
