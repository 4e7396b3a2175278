"""The job queue, wake signals, work after a commit, the scheduler, and the client of Valkey."""
