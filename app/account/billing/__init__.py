"""Webhooks of billing systems, whose events set the plans of accounts."""
