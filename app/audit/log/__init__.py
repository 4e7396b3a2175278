"""Reading, exporting, sealing and verifying the audit log."""
