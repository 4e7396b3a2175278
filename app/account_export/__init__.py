"""All that an account has as one archive, for whoever leaves."""
