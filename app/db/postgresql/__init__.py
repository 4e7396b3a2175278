"""Connections to PostgreSQL: their time limits, failover, and pgbouncer. Knows nothing of
tables."""
