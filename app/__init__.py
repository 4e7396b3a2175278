"""Canopy: a self-hosted REST service for forest projects.

Nothing is imported here, so that whoever needs one module of the package loads no other.
``app.factory`` puts the web application together, ``app.core`` what commands need of it.
"""
