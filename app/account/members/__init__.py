"""Members of an account: their roles, invitations and removal."""
