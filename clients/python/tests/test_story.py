"""The life of a person in a backend, against siwa and its fakes."""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import pytest
from conftest import ROOT, SIWA, SIWA_DEV, Apple, Program, free_ports, post

from siwa_client import FileCursor, SiwaClient, SiwaError
from siwa_client.models import CredentialState, DisablingReason, Event, EventType, Nonce

APP = "com.example.app"
FOLDER = pathlib.Path(__file__).resolve().parents[1]


class Backend:
    """A backend with sessions, which events end. Its tables are dictionaries."""

    def __init__(self, client, cursor_file):
        self.client, self.sessions, self.events, self.failure = client, {}, [], None
        self.feed = client.events(FileCursor(str(cursor_file)), resync=lambda: self.events.append("resync"), wait=2)
        threading.Thread(target=self.follow, daemon=True).start()

    def sign_in(self, form):
        outcome = self.client.sign_in(form)
        self.sessions[outcome.account.id] = outcome.credential.since
        return outcome

    def follow(self):
        try:
            for event in self.feed:
                self.events.append(event.type)
                ends = event.type in (EventType.CREDENTIAL_REVOKED, EventType.SESSIONS_ENDED)
                if ends and self.sessions.get(event.account_id, event.occurred_at) <= event.occurred_at:
                    self.sessions.pop(event.account_id, None)
        except SiwaError as error:
            self.failure = error


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 60 s"
        time.sleep(0.05)


def refusal(call, *arguments, **more):
    with pytest.raises(SiwaError) as caught:
        call(*arguments, **more)
    return caught.value


def test_a_persons_life(siwa_dev, environment, tmp_path):
    environment.setenv("SIWA_URL", siwa_dev.url)
    environment.setenv("SIWA_API_KEY", "siwa_development")
    environment.setenv("SIWA_CLIENT_ID", APP)
    client, apple = SiwaClient(), siwa_dev.apple
    backend = Backend(client, tmp_path / "cursor")
    until(lambda: backend.events == ["resync"] and backend.feed.cursor)

    # The first sign-in, on the iPhone. The nonce is good for one sign-in.
    ada = apple.person(first_name="Ada", last_name="King", hide_email=True)
    form = apple.sign_in(ada, client.make_nonce())
    outcome = backend.sign_in(form)
    account_id = outcome.account.id
    assert outcome.is_new_account and outcome.account.first_name == "Ada" and outcome.account.is_private_email
    error = refusal(client.sign_in, form)
    assert (error.code, error.status) == ("nonce_used", 401) and error.request_id and error.for_app()[0] == 401
    assert client.state(ada).state == client.states([ada, "stranger"])[0].state == CredentialState.AUTHORIZED
    assert client.account(account_id).sub == client.account_of(ada).sub == ada
    assert [account.id for account in client.find_accounts(name="Ada King").accounts] == [account_id]
    assert client.verify(apple.sign_in(ada, client.make_nonce())).identity.sub == ada

    # She stops using the app: the event ends her session.
    apple.revoke_consent(ada)
    until(lambda: account_id not in backend.sessions)
    assert client.state(ada).state == CredentialState.REVOKED

    # She returns. Apple's times have whole seconds, and the new authorization must be later.
    time.sleep(2)
    form = apple.sign_in(ada, client.make_nonce())
    assert backend.sign_in(form).account.id == account_id and account_id in backend.sessions

    # Her account is disabled and enabled. Then she is signed out everywhere.
    assert client.disable(account_id, DisablingReason.SECURITY).disabled.reason == "security"
    error = refusal(client.sign_in, apple.sign_in(ada, client.make_nonce()))
    assert (error.code, error.for_app()) == ("account_disabled", (403, {"error": "account_disabled"}))
    assert client.enable(account_id).disabled is None
    assert client.sign_out(account_id).sessions_ended_at
    until(lambda: account_id not in backend.sessions)

    # She deletes her account.
    erasure = client.delete(account_id)
    until(lambda: client.erasure(erasure.id).state == "completed")
    assert client.delete(account_id).id == erasure.id and not erasure.user_must_revoke
    assert refusal(client.account, account_id).code == "account_not_found"
    until(lambda: EventType.ACCOUNT_ERASED in backend.events)
    assert backend.events == [
        "resync", "account_created", "credential_authorized", "credential_revoked", "credential_authorized",
        "account_disabled", "account_enabled", "sessions_ended", "credential_revoked", "account_erased"]
    assert backend.failure is None and refusal(SiwaClient(api_key="other").make_nonce).for_app()[0] == 500


def test_app_frameworks(siwa_dev):
    """The JSON of each library of docs/app-frameworks.md signs a person in: with the package, and with siwa alone."""
    client, apple = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP), siwa_dev.apple
    page = (ROOT / "docs/app-frameworks.md").read_text(encoding="utf-8")
    names = re.findall(r"\(\.\./Fixtures/(clients/calls/sign-in-[a-z-]+\.json)\)", page)
    assert len(names) == 7

    def filled(name, sub):
        """The form of the example and its request, with the token, the code and the nonce of a new sign-in."""
        vector = (ROOT / "Fixtures" / name).read_text()
        example = json.loads(vector)["exchanges"][0]["request"]["json"]
        for member, value in apple.sign_in(sub, client.make_nonce()).items():
            if member in example and member != "user":
                for encode in (str, lambda text: base64.b64encode(text.encode()).decode()):
                    vector = vector.replace(encode(example[member]), encode(value))
        vector = json.loads(vector)
        return vector["steps"][0]["arguments"]["form"], vector["exchanges"][0]["request"]["json"]

    for name in names:
        name_of_ada = (None, None) if "later" in name else ("Ada", "Lovelace")
        form, _ = filled(name, apple.person())
        account = client.sign_in(form).account
        assert (account.first_name, account.last_name) == name_of_ada, name
        form, members = filled(name, apple.person())
        members["user"] = form.get("response", form)
        request = urllib.request.Request(siwa_dev.url + "/v1/sign-ins", json.dumps(members).encode(), {
            "Authorization": "Bearer siwa_development", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=15) as response:
            account = json.load(response)["account"]
        assert (account.get("first_name"), account.get("last_name")) == name_of_ada, name


def test_tokens_and_links(siwa_dev, environment):
    client = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP)
    apple, google = siwa_dev.apple, f"http://127.0.0.1:{siwa_dev.google_port}/control"
    ada = apple.person(first_name="Ada")
    outcome = client.sign_in(apple.sign_in(ada, client.make_nonce()))
    account_id = outcome.account.id

    # Her phone exchanges an identity token for an access token (RFC 8693).
    form = apple.sign_in(ada, client.make_nonce())
    exchange = urllib.parse.urlencode({
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "client_id": "siwa-phone", "scope": "openid email",
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "subject_token": form["identity_token"],
        "nonce": form["nonce"]}).encode()
    with urllib.request.urlopen(siwa_dev.url + "/oauth/token", exchange, timeout=15) as response:
        answer = json.load(response)
    bearer = "Bearer " + answer["access_token"]
    token = client.verify_token(bearer, siwa_dev.url, ["email"])
    assert token.sub == account_id and token == client.introspect(bearer, siwa_dev.url, ["email"])
    assert refusal(client.verify_token, bearer, siwa_dev.url, ["admin"]).code == "scope_missing"
    assert refusal(client.verify_token, bearer, "https://other", ["email"]).code == "audience_mismatch"
    assert refusal(client.verify_token, "Bearer " + answer["id_token"], siwa_dev.url).code == "not_an_access_token"
    assert refusal(client.introspect, "Bearer " + answer["refresh_token"], siwa_dev.url).code == "token_inactive"

    # Her phone attests a key.
    registration = post(f"{apple.url}/app-attest/keys?format=registration",
                        {"challenge": client.make_challenge("attestation").challenge})
    assert client.register_key(registration).is_new_key
    error = refusal(client.register_key, {**registration, "key_id": base64.b64encode(bytes(32)).decode()})
    proof = {"cause": error.cause, "re_attest": error.re_attest}
    assert error.for_app() == (401, {"error": "attestation_invalid", **proof}) and None not in proof.values()

    # She links her Google account by App Flip, and ends the link in the app.
    link = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(post(f"{google}/link", {"mode": "app_flip"})["url"]).query))
    session = {"account_id": account_id, "authenticated_at": outcome.credential.since}
    assert client.app_flip_prompt(link, **session).prompt.account.title
    assert client.app_flip({**link, "decision": "granted"}, **session).outcome == "code"
    grant = next(grant for grant in client.grants(account_id) if grant.client_id == "google")
    client.end_grant(account_id, grant.id)
    assert refusal(client.end_grant, account_id, grant.id).code == "grant_not_found"

    # After a withdrawn consent siwa knows at once. A verified token stays good until it expires.
    apple.revoke_consent(ada)
    until(lambda: client.state(ada).state == CredentialState.REVOKED)
    assert refusal(client.introspect, bearer, siwa_dev.url).code == "token_inactive"
    assert client.verify_token(bearer, siwa_dev.url).sub == account_id


def test_forms_of_libraries(siwa_dev):
    client = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP)
    for number, shape in enumerate([
        lambda form: {"fullName": {"givenName": "Ada", "familyName": "Lovelace", "middleName": None}, "user": "sub", **form},
        lambda form: {"givenName": "Ada", "familyName": "Lovelace", "userIdentifier": "sub", "email": None, **form},
        lambda form: {"response": {"givenName": "Ada", "familyName": "Lovelace", "user": "sub", **form}},
    ]):
        nonce = client.make_nonce()
        posted = siwa_dev.apple.sign_in(siwa_dev.apple.person(first_name="X"), nonce)
        form = shape({"identityToken": posted["identity_token"], "authorizationCode": posted["authorization_code"]})
        account = client.sign_in({**form, "nonce": nonce.nonce}).account
        assert (account.first_name, account.last_name) == ("Ada", "Lovelace"), number


def test_states_replace_missed_events(siwa_dev):
    client, apple = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP), siwa_dev.apple
    outcomes = {}
    for name in ("here", "gone", "deleted", "erased", "disabled"):
        outcomes[name] = client.sign_in(apple.sign_in(apple.person(), client.make_nonce()))
    apple.revoke_consent(outcomes["gone"].account.sub)
    post(f"{apple.url}/users/{outcomes['deleted'].account.sub}/delete-account")
    erasure = client.delete(outcomes["erased"].account.id)
    client.disable(outcomes["disabled"].account.id, DisablingReason.FRAUD)
    subs = {name: outcome.account.sub for name, outcome in outcomes.items()}
    until(lambda: [state.state for state in client.states(list(subs.values()))].count("authorized") == 2)
    until(lambda: client.erasure(erasure.id).state == "completed")  # the next story counts events

    since = outcomes["here"].credential.since
    known = {sub: (name, since) for name, sub in subs.items()}
    events = list(client.missed_events({**known, "stranger": ("stranger", since), "guest": ("guest", None)}))
    assert [(event.account_id, event.type) for event in events] == [
        ("here", "account_enabled"), ("gone", "account_enabled"), ("gone", "credential_revoked"),
        ("deleted", "account_enabled"), ("deleted", "account_deleted"), ("erased", "account_enabled"),
        ("erased", "account_erased"), ("disabled", "account_disabled"), ("stranger", "account_enabled"),
        ("stranger", "credential_revoked"), ("guest", "account_enabled")]
    # siwa knows when the consent of one ended, and nothing about the other.
    times = {event.account_id: event.occurred_at for event in events if event.type == "credential_revoked"}
    assert times["gone"] >= outcomes["gone"].credential.since and times["stranger"] == since


def test_a_feed_in_a_thread(siwa_dev, environment, tmp_path):
    environment.setattr("siwa_client.events.PAUSE_AFTER_EXCEPTION", 0)
    client, handled = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP), []
    feed = client.events(FileCursor(str(tmp_path / "cursor")), wait=2)
    error = refusal(feed.check)
    assert error.code == "feed_not_begun" and error.for_app() == (503, {"error": "try_again"})

    # A backend with webhooks begins at the end of the feed, and reads no events.
    feed.start()
    until(lambda: feed.cursor)
    feed.check()
    assert feed.last_response_at and not feed.is_caught_up

    def handle(event):
        handled.append(event)
        if len(handled) == 1:
            raise SiwaError("parameter_malformed", 400)  # of a call of the handler, and not of the feed

    client.sign_in(siwa_dev.apple.sign_in(siwa_dev.apple.person(), client.make_nonce()))
    feed.start(handle)
    until(lambda: len(handled) == 3)
    assert handled[0] == handled[1] and handled[2].type == EventType.CREDENTIAL_AUTHORIZED


def test_a_cursor_of_another_feed(siwa_dev, environment, tmp_path, caplog):
    client, store, resyncs = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP), FileCursor(str(tmp_path / "cursor")), []
    store.save("7000000")  # siwa has fewer events
    feed = client.events(store, resync=lambda: resyncs.append(1), wait=2)
    feed.start(resyncs.append)
    until(lambda: feed.is_caught_up)
    assert resyncs == [1] and store.load() == feed.cursor and int(feed.cursor) < 7_000_000

    # A cursor that was damaged ends the feed, and the backend accepts no sign-in. The other feed still saves its own.
    store = FileCursor(str(tmp_path / "seven"))
    store.save("seven")
    feed = client.events(store, resync=lambda: resyncs.append(1), wait=2)
    feed._run(resyncs.append)
    assert refusal(feed.check).code == "feed_not_begun" and "'seven'" in caplog.text and resyncs == [1]


def test_the_check_at_the_start(siwa_dev, environment):
    environment.delenv("SIWA_CLIENT_ID", raising=False)
    with pytest.raises(ValueError, match="missing environment variables: SIWA_CLIENT_ID"):
        SiwaClient(siwa_dev.url, "siwa_development").check()
    SiwaClient(siwa_dev.url, "siwa_development", client_id=APP).check()
    error = refusal(SiwaClient(siwa_dev.url, "siwa_development", client_id="com.example.other").check)
    assert error.code == "client_id_unknown" and "SIWA_CLIENT_ID" in str(error)
    error = refusal(SiwaClient(siwa_dev.url, "other", client_id=APP).check)
    assert error.code == "caller_unauthenticated" and str(error).endswith("check SIWA_URL and SIWA_API_KEY")
    # siwa may be away when the backend starts.
    port, = free_ports(1)
    SiwaClient(f"http://127.0.0.1:{port}", "siwa_development", client_id=APP, attempts=1).check()


def test_a_webhook(tmp_path):
    """siwa as a service of its own, which posts its events to a receiver with the package."""
    secrets = [f"whsec_{base64.b64encode(os.urandom(32)).decode()}" for _ in range(2)]
    port, apple_port = free_ports(2)
    url, apple = f"http://127.0.0.1:{port}", Apple(apple_port)
    client = SiwaClient(url, "siwa_of_a_test_0123456789", client_id=APP, webhook_secrets=" ".join(secrets))
    received = queue.Queue()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                received.put(client.verify_webhook(self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
            except SiwaError as error:
                received.put(error)
                self.send_response(error.for_app()[0])
            self.end_headers()

        def log_message(self, *line):
            pass

    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    secret_file = tmp_path / "secret"
    secret_file.write_text(secrets[1])
    secret_file.chmod(0o600)
    (tmp_path / "siwa.yaml").write_text(
        f"webhooks:\n  - name: backend\n    url: http://127.0.0.1:{receiver.server_port}/siwa\n    secret_files: [{secret_file}]\n")
    key_hash = hashlib.sha256(b"siwa_of_a_test_0123456789").hexdigest()
    fake = Program([
        SIWA_DEV, "emulate", "--port", str(apple_port), "--client-id", APP, "--signing-key-file",
        str(tmp_path / "AuthKey_ABC123DEFG.p8"), "--notification-url", f"{url}/v1/apple/notifications"], apple.url)
    service = Program([SIWA, "serve"], f"{url}/livez", {
        "PATH": os.environ["PATH"], "SIWA_ENV": "development", "SIWA_PORT": str(port), "APPLE_TEAM_ID": "SIWADEV000",
        "APPLE_CLIENT_IDS": APP, "APPLE_BASE_URL": f"http://127.0.0.1:{apple_port}", "SIWA_CONFIG": str(tmp_path / "siwa.yaml"),
        "DATABASE_URL": f"sqlite://{tmp_path}/siwa.sqlite", "SIWA_API_KEY_HASHES": f"backend={key_hash}"})
    try:
        ada = apple.person()
        outcome = client.sign_in(apple.sign_in(ada, client.make_nonce()))
        apple.revoke_consent(ada)
        events = [received.get(timeout=60) for _ in range(3)]
        assert [event.type for event in events] == ["account_created", "credential_authorized", "credential_revoked"]
        assert isinstance(events[2], Event) and events[2].account_id == outcome.account.id
        assert events[2].occurred_at >= outcome.credential.since and events[2].reason == "consent_revoked"
    finally:
        service.stop()
        fake.stop()
        receiver.shutdown()


def test_the_page(siwa_dev, environment, tmp_path):
    """The programs of README.md: the first as a process, the second with Flask's own client."""
    trial, application = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)
    environment.setenv("SIWA_URL", siwa_dev.url)
    environment.setenv("APPLE", siwa_dev.apple.url.rpartition("/")[0])
    environment.setenv("PYTHONPATH", str(FOLDER))
    run = subprocess.run([sys.executable, "-c", trial], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    lines = [line.partition(":")[0] for line in run.stdout.splitlines()]
    assert lines == ["Signed in", "The session has ended. State", "Deleted"], run.stderr

    environment.setenv("SIWA_API_KEY", "siwa_development")
    environment.setenv("SIWA_CLIENT_ID", APP)
    (tmp_path / "cursor.txt").unlink()
    names = {"__name__": "page"}
    exec(application.replace("cursor.txt", f"{tmp_path}/cursor.txt"), names)
    until(lambda: names["feed"].cursor)
    flask = names["app"].test_client()
    nonce = flask.post("/nonce").get_json()
    ada = siwa_dev.apple.person()
    form = siwa_dev.apple.sign_in(ada, Nonce(nonce["nonce"], nonce["nonce_sha256"], None))
    assert flask.post("/signin", json=form).get_json()["account_id"].startswith("acc_")
    assert flask.post("/signin", json=form).status_code == 401
    assert names["users"][ada][1]
    siwa_dev.apple.revoke_consent(ada)
    until(lambda: not names["users"][ada][1])


def test_siwa_stops_and_returns(siwa_dev, tmp_path):
    """The last story, because it stops the siwa of all stories."""
    client = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP)
    hasty = SiwaClient(siwa_dev.url, "siwa_development", client_id=APP, timeout=1, attempts=1)
    backend = Backend(client, tmp_path / "cursor")
    ada = siwa_dev.apple.person()
    backend.sign_in(siwa_dev.apple.sign_in(ada, client.make_nonce()))
    until(lambda: "credential_authorized" in backend.events)

    process = siwa_dev.program.process
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)  # until then its threads can still respond
    began = time.monotonic()
    assert refusal(hasty.make_nonce).code == "unreachable" and time.monotonic() - began < 10
    process.send_signal(signal.SIGCONT)
    assert client.make_nonce().nonce
    siwa_dev.program.stop(signal.SIGKILL)
    error = refusal(hasty.make_nonce)
    assert error.code == "unreachable" and error.for_app() == (503, {"error": "try_again"})

    # The feed goes on where it was, and no event comes twice.
    siwa_dev.program.start()
    siwa_dev.apple.revoke_consent(ada)
    until(lambda: not backend.sessions)
    assert backend.failure is None and backend.events.count("credential_authorized") == 1
