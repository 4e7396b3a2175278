"""The pages of OAuth applications: applications with access, and the account's own."""
