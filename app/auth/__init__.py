"""Who is asking, how they prove it, and whether they may."""
