"""The pages of OAuth applications: applications with access, and those of the account."""
