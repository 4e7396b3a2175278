"""The pages of one asset: the asset, and the form that makes or edits it."""
