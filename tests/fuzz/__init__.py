"""Requests made up from the OpenAPI description, and sequences of changes beside a model.

The suite runs a few of them; ``python -m tests.fuzz --help`` runs as many as one likes.
"""
