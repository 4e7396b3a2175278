"""What every operation of /v1 keeps, whatever it is about."""
