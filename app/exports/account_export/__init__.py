"""Everything in an account as one archive."""
