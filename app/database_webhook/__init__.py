"""Rows of projects and assets that were changed with SQL, past the service."""
