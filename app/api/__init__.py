"""What every /v1 route shares: the contract of an operation, the envelope, repeats, refusals."""
