"""The frameworks, the arguments of the client, and the tools that keep the package in order."""

import functools
import json
import pathlib
import socket
import subprocess
import sys
import threading
from datetime import datetime

import pytest
from vectors import FIXTURES, VectorClock

from siwa_client import FileCursor, SiwaClient, SiwaError
from siwa_client.frameworks import DjangoErrors, fastapi_errors, fastapi_token, flask_errors

FOLDER = pathlib.Path(__file__).resolve().parents[1]
REFUSED = SiwaError("token_expired", 401, "detail", request_id="r")
DOWN = SiwaError("unreachable", retry_after=None)


def test_flask():
    import flask

    app = flask.Flask("test")
    flask_errors(app)

    @app.post("/signin")
    def sign_in():
        raise REFUSED if flask.request.get_json()["bad"] else DOWN

    answer = app.test_client().post("/signin", json={"bad": True})
    assert (answer.status_code, answer.get_json()) == (401, {"error": "token_expired"})
    answer = app.test_client().post("/signin", json={"bad": False})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


@pytest.mark.filterwarnings("ignore:Using `httpx`")
def test_fastapi():
    import fastapi
    from fastapi.testclient import TestClient

    class Client:
        def verify_token(self, bearer, audience, scopes):
            if bearer != "Bearer t":
                raise SiwaError("token_missing", 401)
            return {"audience": audience, "scopes": scopes}

    app = fastapi.FastAPI()
    fastapi_errors(app)

    @app.get("/lights")
    def lights(token=fastapi.Depends(fastapi_token(Client(), "https://api", "email"))):
        return token

    client = TestClient(app)
    answer = client.get("/lights", headers={"Authorization": "Bearer t"})
    assert answer.json() == {"audience": "https://api", "scopes": ["email"]}
    answer = client.get("/lights")
    assert (answer.status_code, answer.json()) == (401, {"error": "token_missing"})


def test_django():
    import django.conf
    from django.http import JsonResponse

    django.conf.settings.configure() if not django.conf.settings.configured else None
    middleware = DjangoErrors(lambda request: "passed")
    assert middleware("request") == "passed" and middleware.process_exception(None, KeyError()) is None
    answer = middleware.process_exception(None, REFUSED)
    assert isinstance(answer, JsonResponse) and answer.status_code == 401
    assert json.loads(answer.content) == {"error": "token_expired"}


@pytest.mark.parametrize("options", [
    {"url": ""}, {"url": "siwa.internal"}, {"url": "ftp://siwa"}, {"url": "http://user:pw@siwa"}, {"url": "http://:pw@siwa"}, {"url": "http://siwa?x=1"},
    {"api_key": ""}, {"api_key": "a b"}, {"api_key": "a\r\nX: y"}, {"api_key": "\u00e9"},
    {"webhook_secrets": "whsec_"}, {"webhook_secrets": "secret"}, {"webhook_secrets": "whsec_c2hvcnQ="},
    {"webhook_secrets": "whsec_" + "A" * 88},
])
def test_a_malformed_option(options, environment):
    with pytest.raises(ValueError) as caught:
        SiwaClient(**{"url": "http://siwa", "api_key": "key", **options})
    assert "pw" not in str(caught.value) and "X: y" not in str(caught.value) and "c2hvcnQ" not in str(caught.value)


def test_a_missing_client_id(environment):
    with pytest.raises(ValueError, match="SIWA_CLIENT_ID"):
        SiwaClient("http://siwa", "key").state("sub")


def test_many_states_are_several_requests(environment, monkeypatch):
    client, sizes = SiwaClient("http://siwa", "key", client_id="app"), []

    def call(method, target, body, **options):
        subs = json.loads(body)["subs"]
        sizes.append(len(subs))
        return {"credentials": [{"sub": sub, "client_id": "app", "state": "notFound"} for sub in subs]}

    monkeypatch.setattr(client._transport, "call", call)
    subs = [str(number) for number in range(2001)]
    assert [credential.sub for credential in client.states(subs)] == subs and sizes == [1000, 1000, 1]


def test_a_known_key_does_not_wait_for_a_fetch(environment, monkeypatch):
    vector = json.loads((FIXTURES / "clients/key-sets/one-fetch.json").read_text())
    keys, bearer = vector["exchanges"][0]["response"]["json"], vector["steps"][0]["arguments"]["bearer"]
    clock, fetches, goes_on = VectorClock(vector["at"]), threading.Semaphore(0), threading.Event()
    client = SiwaClient("http://siwa", "key", issuer="https://signin.example.com", clock=clock)

    def call(*arguments, **options):
        fetches.release()
        assert goes_on.wait(20)
        return keys

    monkeypatch.setattr(client._transport, "call", call)
    verify = functools.partial(client.verify_token, bearer, "https://api.example.com")
    goes_on.set()
    verify()
    goes_on.clear()
    clock.time += 3_600  # the set is old, and the next call fetches it
    fetching = threading.Thread(target=lambda: pytest.raises(SiwaError, verify))
    assert fetches.acquire(timeout=20)
    fetching.start()
    assert fetches.acquire(timeout=20)
    with pytest.raises(SiwaError) as caught:
        verify()
    assert caught.value.code == "token_expired" and fetching.is_alive()
    goes_on.set()
    fetching.join()


@pytest.mark.parametrize("users", [
    ["sub"], {"sub": "acc"}, {"sub": ("acc",)}, {"sub": (1, None)}, {"sub": ("acc", "2026-11-28T17:00:00.000Z")},
    {"sub": ("acc", datetime(2026, 11, 28))},
])
def test_users_of_another_form_are_refused_at_once(users, environment):
    with pytest.raises(TypeError, match="account_id, since"):
        SiwaClient("http://siwa", "key", client_id="app").missed_events(users)


@pytest.mark.parametrize("store, wait", [("cursor.txt", 30), (FileCursor("cursor.txt"), 31)])
def test_a_feed_of_another_form_is_refused_at_once(store, wait, environment):
    with pytest.raises(ValueError, match="cursor_store"):
        SiwaClient("http://siwa", "key").events(store, wait=wait)


def test_without_siwa(environment, caplog):
    """The error of a call names the URL, and a backend starts with a warning."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # without listen
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        client = SiwaClient(url + "/", "key", client_id="app", attempts=1)
        with pytest.raises(SiwaError) as caught:
            client.make_nonce()
        assert type(caught.value) is SiwaError and f" {url} (ConnectionRefusedError)" in str(caught.value)
        client.check()
    assert [record.levelname for record in caplog.records] == ["WARNING"] and f" {url} " in caplog.text


def test_a_cursor_in_a_file(tmp_path):
    store = FileCursor(str(tmp_path / "cursor"))
    assert store.load() is None
    store.save("c1")
    store.save("c2")
    assert store.load() == "c2" and len(list(tmp_path.iterdir())) == 1
    (tmp_path / "cursor").write_text("7\n")  # written by hand
    assert store.load() == "7"


def test_types():
    run = subprocess.run([sys.executable, "-m", "mypy", "siwa_client"], cwd=FOLDER, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_models_are_those_of_the_document():
    script = FOLDER.parents[1] / "scripts/client-models"
    run = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_package_needs_nothing_else():
    """Without the extra everything works except verify_token, which says what to install."""
    code = ("import sys; sys.modules['cryptography'] = None\n"
            "import siwa_client, siwa_client.tokens as tokens\n"
            "try: tokens._usable({'kty': 'EC'})\n"
            "except RuntimeError as error: print(error)")
    run = subprocess.run([sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True)
    assert "siwa-client[tokens]" in run.stdout, run.stderr
