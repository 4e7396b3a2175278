"""Connections to PostgreSQL: how long they wait, which of several hosts they lead to, and what
pgbouncer changes. Knows nothing of tables."""
