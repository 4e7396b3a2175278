"""The instance's own map: ``basemap.pmtiles`` in its folder, which ``canopy basemap`` cuts out of a
map of the world (PMTiles version 3, with vector tiles of Protomaps)."""

from __future__ import annotations

from app.basemap.own import OwnBasemap, own_basemap

__all__ = ["OwnBasemap", "own_basemap"]
