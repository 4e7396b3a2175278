"""The page on which people allow an application to act for them."""
