"""Rows of projects and assets that somebody changed with SQL, past the service."""
