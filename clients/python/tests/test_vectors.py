"""All vectors, those of the webhooks, and proof that the server of the vectors finds wrong requests."""

import json

import pytest
from vectors import FIXTURES, FOLDERS, VectorClock, body_of, play

from siwa_client import SiwaClient, SiwaError

VECTORS = [path for folder in FOLDERS for path in sorted((FIXTURES / "clients" / folder).glob("*.json"))]


def name_of(path):
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", VECTORS, ids=name_of)
def test_vector(path):
    play(path)


def test_there_are_vectors_of_each_folder():
    assert {path.parent.name for path in VECTORS} == set(FOLDERS) and len(VECTORS) >= 80
