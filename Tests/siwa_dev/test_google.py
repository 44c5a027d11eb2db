import http.server
import json
import threading
import urllib.parse

import pytest

from siwa_dev import EmulatorError, FakeGoogle


@pytest.fixture(scope="module")
def server():
    """An authorization server that grants everything, and takes Google's events."""

    class Handler(http.server.BaseHTTPRequestHandler):
        events = []

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            answers = {
                "/oauth/token": {
                    "access_token": "a-1", "refresh_token": "r-1", "token_type": "Bearer", "expires_in": 3600,
                },
                "/oauth/introspect": {"active": True, "sub": "acc_1"},
            }
            if self.path == "/v1/google/security-events":
                self.events.append(body)
            status = 202 if self.path == "/v1/google/security-events" else 200
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answers.get(self.path, {})).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.events = Handler.events
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def google(server):
    issuer = f"http://127.0.0.1:{server.server_port}"
    with FakeGoogle(issuer=issuer, client_secret="secret", api_key="key", scopes=["openid"]) as google:
        yield google


def link(google):
    """Begins a link, and answers for the server's page. Returns the link."""
    start = google.link()
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(start.url).query)
    assert query["client_id"] == ["google"] and query["state"] == [start.state]
    assert start.redirect_uri in google.redirect_uris
    answer = urllib.parse.urlencode({"code": "c-1", "state": start.state})
    return google.answer(f"{start.redirect_uri}?{answer}")


def test_google_links_refreshes_and_unlinks(google, server):
    assert link(google)
    assert len(google.links()) == 1
    assert google.refresh().status == 200
    assert google.call().body["active"] is True
    assert google.streamlined("check", email="ada@gmail.com").status == 200
    assert google.unlink().status == 200
    assert google.exchanges()


def test_google_sends_events(google, server):
    link(google)
    del server.events[:]
    assert google.send_event("sessions-revoked").status == 202 and len(server.events) == 1
    assert google.events() == [] and google.stream() is None
    assert google.service_account()["type"] == "service_account"
    kid = google.rotate_key()
    assert google.send_event("account-disabled").status == 202 and kid


def test_faults_and_reset(google):
    link(google)
    google.faults.set("token", lose="request", times=1)
    assert google.refresh().status is None
    assert google.refresh().status == 200
    with pytest.raises(EmulatorError) as refusal:
        google.faults.set("certs", lose="request")
    assert refusal.value.code == "member_malformed"
    google.faults.set("certs", status=500)
    google.faults.clear("certs")
    google.reset()
    assert google.links() == [] and google.exchanges() == []


def test_the_fixture_starts_a_fake(fake_google):
    assert fake_google.link("app_flip").url
