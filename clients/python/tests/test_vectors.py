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


@pytest.mark.parametrize("path", sorted((FIXTURES / "webhooks").glob("*.json")), ids=lambda path: path.stem)
def test_webhook(path):
    case = json.loads(path.read_text())
    clock = VectorClock(case["at"])
    if case["verdict"] == "misconfigured":
        with pytest.raises(ValueError):
            SiwaClient("http://siwa", "key", webhook_secrets=case["secrets"], clock=clock)
            # Without a secret the client starts: it may have other uses.
            SiwaClient("http://siwa", "key", clock=clock).verify_webhook({}, b"")
        return
    client = SiwaClient("http://siwa", "key", webhook_secrets=case["secrets"], clock=clock)
    try:
        result = client.verify_webhook(case["headers"], body_of(case)).id
    except SiwaError as error:
        result = error.code
    # The bodies of two cases have a good signature, and are not events.
    wanted = case["code"] if case["verdict"] == "refused" else case["id"]
    assert result == wanted or (result, path.stem) in (
        ("event_malformed", "accepted-unicode"), ("event_malformed", "accepted-65536-bytes"))


# Mistakes that a client could make in its first request, each of which the server must find.
MISTAKES = {
    "target": lambda request: request.update(target=request["target"] + "/"),
    "method": lambda request: request.update(method="PUT"),
    "key": lambda request: request["headers"].update(authorization="Bearer other"),
    "header that must be absent": lambda request: request["headers"].update({"user-agent": None}),
    "host": lambda request: request["headers"].update(host="example.com"),
    "type of the body": lambda request: request["headers"].update({"content-type": "application/json; charset=utf-8"}),
    "value in the body": lambda request: request["json"].update(nonce="other"),
    "number for a text": lambda request: request["json"].update(nonce=1),
    "member too few": lambda request: request["json"].pop("nonce"),
    "body": lambda request: request.update(body=json.dumps(request.pop("json"))),
}


@pytest.mark.parametrize("change", MISTAKES.values(), ids=MISTAKES)
def test_the_server_finds_a_wrong_request(change, tmp_path):
    vector = json.loads((FIXTURES / "clients/calls/sign-in.json").read_text())
    change(vector["exchanges"][0]["request"])
    (tmp_path / "vector.json").write_text(json.dumps(vector))
    with pytest.raises(AssertionError, match="request 1: "):
        play(tmp_path / "vector.json")


@pytest.mark.parametrize("copies, mistake", [(0, "is one too many"), (2, "1 of 2 requests were not made")])
def test_the_server_counts_requests(copies, mistake, tmp_path):
    vector = json.loads((FIXTURES / "clients/calls/enable.json").read_text())
    vector.update(exchanges=vector["exchanges"] * copies)
    if copies == 0:
        vector["steps"][0].pop("returns")
        vector["steps"][0]["error"] = {"code": "unreachable"}
    (tmp_path / "vector.json").write_text(json.dumps(vector))
    with pytest.raises(AssertionError, match=mistake):
        play(tmp_path / "vector.json")


@pytest.mark.parametrize("step", [{"returns": {"nonce": "other"}}, {"error": {"code": "nonce_missing"}},
                                  {"returns": {}, "waits": [1]}, {"returns": {}, "warnings": 1}])
def test_the_runner_finds_a_wrong_result(step, tmp_path):
    vector = json.loads((FIXTURES / "clients/calls/make-nonce.json").read_text())
    vector["steps"] = [{"call": "make_nonce", "arguments": {}, **step}]
    (tmp_path / "vector.json").write_text(json.dumps(vector))
    with pytest.raises(AssertionError, match="make_nonce"):
        play(tmp_path / "vector.json")
