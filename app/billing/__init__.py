"""What billing systems tell, and what it does to the plan of an account."""
