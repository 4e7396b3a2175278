"""A person's own pages: profile, sessions, accounts."""
