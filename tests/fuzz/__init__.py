"""Requests made up from the OpenAPI description, and sequences of changes beside a model.

The suite runs a few of them; ``bin/trials fuzz`` runs as many as one likes.
"""
