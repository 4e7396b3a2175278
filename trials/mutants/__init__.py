"""What the tests notice of small changes: ``bin/trials mutants -- --help``."""
