"""What happens to the service when a part fails under load: ``bin/trials faults -- --help``."""
