"""Our worker for gunicorn: slow clients, sending or reading, hold no thread, and malformed requests
get the error envelope."""
