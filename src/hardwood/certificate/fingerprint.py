"""The fingerprint of a table, which says what data a certificate is about."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from hardwood.data.labels import Labels
from hardwood.data.table import Table

if TYPE_CHECKING:
    from hardwood.certificate.model import Certificate


def data_hash(table: Table, labels: Labels) -> str:
    """Return a fingerprint of a table and its labels.

    It covers names, kinds, categories and bin edges of the features, the classes, and all values, labels and weights of
    rows whose weight is not 0.
    """
    table, labels = weighted_rows(table, labels)
    digest = hashlib.sha256()
    features = [[f.name, str(f.kind), list(f.categories), list(f.edges)] for f in table.features]
    digest.update(json.dumps([features, list(labels.classes), table.n_samples]).encode())
    digest.update(table.values.astype("<i4").tobytes(order="C"))
    digest.update(labels.codes.astype("<i4").tobytes())
    if labels.weights is not None:
        digest.update(labels.weights.astype("<f8").tobytes())
    return digest.hexdigest()


def is_about(certificate: Certificate | None, table: Table, labels: Labels) -> bool:
    """Return whether there is a certificate, and it is about this table."""
    return certificate is not None and certificate.data_hash == data_hash(table, labels)


def weighted_rows(table: Table, labels: Labels) -> tuple[Table, Labels]:
    """Return the rows whose weight is not 0."""
    if labels.weights is None or labels.weights.all():
        return table, labels
    rows = np.flatnonzero(labels.weights)
    return table.rows(rows), labels.rows(rows)
