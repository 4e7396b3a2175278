"""The pages of OAuth applications: those that have access, and those that the account registers."""
