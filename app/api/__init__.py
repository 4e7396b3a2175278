"""Shared by all /v1 routes: the contract of an operation, the envelope, idempotency, errors."""
