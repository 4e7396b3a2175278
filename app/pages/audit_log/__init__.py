"""The page of the audit log: who did what, when and from where."""
