"""Our worker for gunicorn: a request is collected before it takes a thread, a response is sent to a
slow client without one, and malformed requests get the error envelope."""
