"""A map of all projects: the largest in a box, with shapes for one zoom."""
