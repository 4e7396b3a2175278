"""What is entered into the audit log, by whatever way it is done."""
