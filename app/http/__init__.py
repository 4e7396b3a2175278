"""Middleware that every request passes: ids, headers, CORS, compression, entity tags, errors."""
