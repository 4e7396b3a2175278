"""What a person sees and changes of themselves: profile, sessions, accounts."""
