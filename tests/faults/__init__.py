"""What happens to the service when a part fails under load: ``python -m tests.faults --help``."""
