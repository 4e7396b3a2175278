"""The first pages: for strangers, and for those who have just signed up."""
