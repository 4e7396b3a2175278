"""The pages on which projects are drawn and edited."""
