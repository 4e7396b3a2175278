"""Health checks and metrics of the instance."""
