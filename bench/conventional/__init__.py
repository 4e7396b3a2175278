"""The same resource as a conventional Flask application, for ``bench.compare``.

It is written as the documentation of its libraries shows: flask-smorest's blueprints and
pagination, objects of SQLAlchemy through Flask-SQLAlchemy, marshmallow for what comes in and goes
out, Flask-Limiter with its own storage for Redis. It runs on the versions that Canopy is locked to.
It authenticates, limits, stores and measures as Canopy does, and does none of the rest: no
counters of usage, text and box indexes, former boundaries, entity tags, request ids or log lines;
events and entries of an audit log where it is asked to.
"""
