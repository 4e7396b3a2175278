"""The pages on which people accept or decline invitations to accounts."""
