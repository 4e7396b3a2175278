"""The OpenAPI description of /v1, made from the contracts of its operations."""
