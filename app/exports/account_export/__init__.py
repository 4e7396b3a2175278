"""The account export: everything in an account as one archive."""
