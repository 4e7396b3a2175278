"""Checkpoints and the verification of an audit log, without service, database or settings."""
