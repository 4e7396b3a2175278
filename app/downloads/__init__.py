"""Files that people and programs download: how many at a time, for whom, and how they are sent."""
