"""Reports of projects and assets that were changed with SQL."""
