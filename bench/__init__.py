"""Measurements, each one command: ``python -m bench.compare``."""
