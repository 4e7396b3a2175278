"""Writes features as files."""
