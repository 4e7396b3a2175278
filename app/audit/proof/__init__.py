"""What proves an audit log, and its verification: pure, without service, database or settings."""
