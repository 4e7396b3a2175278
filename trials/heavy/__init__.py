"""Requests that were made to be expensive, and what they cost."""
