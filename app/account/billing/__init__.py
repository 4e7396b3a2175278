"""Events from billing systems, which set the plans of accounts."""
