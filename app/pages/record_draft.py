"""The form of a project or an asset: fields, metadata, and the version that it changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple, Self

from werkzeug.datastructures import MultiDict

from app.http.etags import entity_tag
from app.pages.editable_fields import field_text, form_value
from app.pages.metadata import Row, metadata_line, metadata_rows, read_metadata, sent_metadata
from app.pages.recent_changes import last_change
from app.policy.fields import Field
from app.site.forms import Draft, form_texts
from app.values.strict_json import dumps

_SHOWN: Final = 200  # characters of a difference


class ConflictingField(NamedTuple):
    """A field with different values in the saved record and in the form."""

    label: str
    theirs: str
    mine: str


class RecordDraft(Draft):
    """The form of a project or an asset.

    Attributes:
        metadata: the rows that are not blank.
        version: the entity tag of the record when the form was loaded.
        differences: from what somebody else has saved since; None if nobody has.
        last_change: ``who`` and ``at`` of the change since, if known.
    """

    fields: ClassVar[tuple[Field, ...]]
    others: ClassVar[tuple[str, ...]]  # names of the other texts

    def __init__(
        self,
        texts: Mapping[str, str] | None = None,
        metadata: list[Row] | None = None,
        version: str = "",
    ) -> None:
        super().__init__(texts)
        self.metadata = metadata or []
        self.version = version
        self.differences: list[ConflictingField] | None = None
        self.last_change: dict[str, Any] | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Return the form of a record as it is saved."""
        texts = {field.name: field_text(field, record[field.name]) for field in cls.fields}
        version = entity_tag([dumps(record)])
        return cls(texts | cls.other_texts(record), metadata_rows(record["metadata"]), version)

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> Self:
        """Return the form as it was sent. A URL can have some of its fields."""
        texts = form_texts(form, (*cls.others, *(field.name for field in cls.fields)))
        stripped = {name: text.strip() for name, text in texts.items()}
        return cls(stripped, sent_metadata(form), form.get("version", ""))

    @classmethod
    def other_texts(cls, record: Mapping[str, Any]) -> dict[str, str]:
        """Return the texts of ``others`` for a record."""
        raise NotImplementedError

    def labelled(self) -> dict[str, str]:
        """Return the texts of ``others`` for a comparison, by label."""
        raise NotImplementedError

    @property
    def metadata_rows(self) -> list[Row]:
        """The rows of the form: ``metadata`` and an empty row."""
        return [*self.metadata, Row()]

    def compare(self, account_id: str, record: Mapping[str, Any]) -> None:
        """Set the differences from a record that was saved since. Sent again, the form overwrites
        it."""
        self.last_change = last_change(account_id, record["id"])
        saved = self.of(record)
        mine = self._labelled_texts()
        self.version = saved.version
        self.differences = [
            ConflictingField(label, theirs[:_SHOWN], mine[label][:_SHOWN])
            for label, theirs in saved._labelled_texts().items()
            if theirs != mine[label]
        ]

    def read_fields(self) -> dict[str, Any]:
        """Return the values of ``fields`` and of the metadata for a schema of the API. Problems are
        added to ``errors``."""
        values: dict[str, Any] = {}
        for field in self.fields:
            try:
                values[field.name] = form_value(field, self.texts[field.name])
            except ValueError as error:
                self.errors[field.name] = [str(error)]
        values["metadata"], problems = read_metadata(self.metadata)
        if problems:
            self.errors["metadata"] = problems
        return values

    def _labelled_texts(self) -> dict[str, str]:
        fields = {field.words: self.texts[field.name] for field in self.fields}
        return {**self.labelled(), **fields, "Metadata": metadata_line(self.metadata)}
