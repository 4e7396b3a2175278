"""Jobs: RQ's queues, the scheduler, wake signals, calls after a commit, and the Valkey client."""
