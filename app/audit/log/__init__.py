"""The audit log as it is read, exported, sealed and verified."""
