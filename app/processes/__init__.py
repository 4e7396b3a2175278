"""What keeps an instance running: the supervisor and its child processes, the embedded Valkey, the
processes of the worker, and our changes to gunicorn (``web_server``)."""
