"""The page of all assets: the map and the list."""
