"""The deletion of accounts and of people."""
