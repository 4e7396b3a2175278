"""Pages of projects: the map and the list, and each project."""
