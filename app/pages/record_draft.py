"""What the forms of a project and of an asset have in common: fields, metadata, and the version
that they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple, Self

from werkzeug.datastructures import MultiDict

from app.http.etags import entity_tag
from app.pages.metadata import Row, listed_metadata, metadata_rows, read_metadata, sent_metadata
from app.pages.recent_changes import last_change
from app.pages.record_fields import field_text, read_field
from app.policy.fields import Field
from app.site.forms import Draft, sent_texts
from app.values.strict_json import dumps

_SHOWN: Final = 200  # characters of a difference


class ConflictingField(NamedTuple):
    """A field that differs between what is saved and what is being saved."""

    label: str
    theirs: str
    mine: str


class RecordDraft(Draft):
    """The form of a project or an asset.

    Attributes:
        metadata: the rows in which something is written.
        version: the entity tag of the record as it was when the form was loaded.
        differences: from what somebody else has saved meanwhile; None: nobody has.
        last_change: when, and by whom, as far as it is known.
    """

    fields: ClassVar[tuple[Field, ...]]  # of record_fields
    others: ClassVar[tuple[str, ...]]  # the names of all other texts

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
        texts = sent_texts(form, (*cls.others, *(field.name for field in cls.fields)))
        stripped = {name: text.strip() for name, text in texts.items()}
        return cls(stripped, sent_metadata(form), form.get("version", ""))

    @classmethod
    def other_texts(cls, record: Mapping[str, Any]) -> dict[str, str]:
        """Return the texts of ``others`` for a record."""
        raise NotImplementedError

    def labelled(self) -> dict[str, str]:
        """Return the texts of ``others`` as people compare them, by their labels."""
        raise NotImplementedError

    @property
    def metadata_rows(self) -> list[Row]:
        """The rows that the form shows: those of ``metadata``, and an empty one."""
        return [*self.metadata, Row()]

    def compare(self, account_id: str, record: Mapping[str, Any]) -> None:
        """Set the differences from a record that was saved meanwhile. Sent again, the form
        overwrites it."""
        self.last_change = last_change(account_id, record["id"])
        saved = self.of(record)
        mine = self._compared()
        self.version = saved.version
        self.differences = [
            ConflictingField(label, theirs[:_SHOWN], mine[label][:_SHOWN])
            for label, theirs in saved._compared().items()
            if theirs != mine[label]
        ]

    def read_fields(self) -> dict[str, Any]:
        """Return the values of ``fields`` and of the metadata for a schema of the API. ``errors``
        say what cannot be read."""
        given: dict[str, Any] = {}
        for field in self.fields:
            try:
                given[field.name] = read_field(field, self.texts[field.name])
            except ValueError as error:
                self.errors[field.name] = [str(error)]
        given["metadata"], problems = read_metadata(self.metadata)
        if problems:
            self.errors["metadata"] = problems
        return given

    def _compared(self) -> dict[str, str]:
        fields = {field.words: self.texts[field.name] for field in self.fields}
        return {**self.labelled(), **fields, "Metadata": listed_metadata(self.metadata)}
