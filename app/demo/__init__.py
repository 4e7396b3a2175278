"""The demo account: real districts of the Pacific Northwest to try the service with.

The boundaries in ``districts.geojson`` are those of the US Forest Service, ranger district
boundaries, public domain. The assets are made up.
"""
