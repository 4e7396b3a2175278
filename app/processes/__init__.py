"""The processes of an instance: the supervisor and its children, the embedded Valkey, the worker,
and our changes to gunicorn (``web_server``)."""
