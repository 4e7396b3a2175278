"""Measurements, each one command: ``python -m bench.http``."""
