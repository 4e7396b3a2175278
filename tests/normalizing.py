"""Whether long texts are normalized, which takes as long as the square of the marks in a row."""

from __future__ import annotations

import unicodedata

import pytest

_LONG = 2_000  # characters


def refuse_to_normalize_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, who tries to fails."""
    normalize = unicodedata.normalize

    def short(form: str, text: str) -> str:
        assert len(text) <= _LONG, "a long text is normalized"
        return normalize(form, text)  # type: ignore[arg-type]

    monkeypatch.setattr(unicodedata, "normalize", short)
