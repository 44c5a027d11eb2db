import asyncio
import json
import os
import pathlib
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from siwa_dev import EmulatorError, FakeApple
from siwa_dev.control import ADVICE

CALLBACK = "http://localhost:9000/callback"


def post(apple, path, **fields):
    """Posts a form to Apple, as a backend does. Returns the status and the body."""
    context = ssl.create_default_context(cafile=apple.ca_file)
    body = urllib.parse.urlencode(fields).encode()
    try:
        with urllib.request.urlopen(apple.url + path, body, context=context) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            text = error.read()
            # A proxy's error has a body of its own.
            return error.code, json.loads(text) if text.startswith(b"{") else {}


def exchange(apple, code, client_id=None, **more):
    client_id = client_id or apple.client_id
    return post(
        apple, "/auth/token", grant_type="authorization_code", code=code, client_id=client_id,
        client_secret=apple.client_secret(client_id), **more,
    )


def refresh(apple, token):
    return post(
        apple, "/auth/token", grant_type="refresh_token", refresh_token=token, client_id=apple.client_id,
        client_secret=apple.client_secret(),
    )


def authorization_url(apple, **changes):
    fields = {
        "client_id": apple.services_id, "redirect_uri": CALLBACK, "response_type": "code id_token",
        "response_mode": "form_post", "scope": "name email", "state": "s-1", "nonce": "n-1", **changes,
    }
    return f"{apple.issuer}/auth/authorize?{urllib.parse.urlencode(fields)}"


def test_a_person_has_the_given_members(fake_apple):
    ada = fake_apple.people.new("Ada", "Lovelace", email="ada@example.com", hides_email=True, sub="ada")
    assert (ada.sub, ada.first_name, ada.last_name) == ("ada", "Ada", "Lovelace")
    assert ada.email == "ada@example.com" and ada.relay_email.endswith("@privaterelay.appleid.com")
    assert fake_apple.people.get("ada") == ada and fake_apple.people.all()[-1] == ada


def test_a_sign_in_has_the_name_once(fake_apple):
    ada = fake_apple.people.new("Ada", "Lovelace", hides_email=True)
    first = ada.sign_in(nonce="n-1")
    assert first.claims["nonce"] == "n-1" and first.claims["aud"] == fake_apple.client_id
    assert first.claims["iss"] == fake_apple.issuer and first.claims["email"] == ada.relay_email
    assert first.user.ios == {
        "fullName": {"givenName": "Ada", "familyName": "Lovelace"}, "email": ada.relay_email,
    }
    name = {"firstName": "Ada", "lastName": "Lovelace"}
    assert json.loads(first.form("s-1")["user"]) == {"name": name, "email": ada.relay_email}
    assert exchange(fake_apple, first.code)[0] == 200
    second = ada.sign_in(code=False)
    assert second.user is None and second.code is None
    assert ada.sign_in(include_user=True).user is not None
    assert fake_apple.people.get(ada.sub).apps == (fake_apple.client_id,)


def test_a_code_of_the_web_is_bound_to_its_redirect_uri(fake_apple):
    code = fake_apple.people.default.sign_in(client_id=fake_apple.services_id, redirect_uri=CALLBACK).code
    assert exchange(fake_apple, code, fake_apple.services_id)[1]["error"] == "invalid_grant"
    code = fake_apple.people.default.sign_in(client_id=fake_apple.services_id, redirect_uri=CALLBACK).code
    assert exchange(fake_apple, code, fake_apple.services_id, redirect_uri=CALLBACK)[0] == 200


def test_a_forged_token_differs_as_said(fake_apple):
    forgery = {"claims": {"aud": "com.other.app"}, "remove_claims": ["email"], "time_offset": -100, "lifetime": 10}
    claims = fake_apple.people.default.sign_in(forgery=forgery).claims
    assert claims["aud"] == "com.other.app" and "email" not in claims
    assert claims["exp"] - claims["iat"] == 10 and abs(claims["iat"] - (time.time() - 100)) < 30


@pytest.mark.fake_apple(redirect_uris=[CALLBACK])
def test_a_person_signs_in_on_the_page(fake_apple):
    # Ada is not on the first page of 20 people.
    ada = fake_apple.people.new("Ada")
    for _ in range(20):
        fake_apple.people.new()
    response = ada.sign_in_on_web(authorization_url(fake_apple))
    assert response.address == CALLBACK and response.form["state"] == "s-1"
    assert json.loads(response.form["user"])["name"]["firstName"] == "Ada"
    response = ada.sign_in_on_web(authorization_url(fake_apple), cancel=True)
    assert response.form == {"state": "s-1", "error": "user_cancelled_authorize"}
    url = authorization_url(fake_apple, response_mode="query", scope="", response_type="code")
    response = ada.sign_in_on_web(url)
    assert response.address.startswith(f"{CALLBACK}?") and "code=" in response.address


@pytest.mark.fake_apple(redirect_uris=[CALLBACK])
@pytest.mark.parametrize(
    "changes", [{"client_id": "com.example.app"}, {"redirect_uri": "https://example.com/"}, {"response_mode": "query"}]
)
def test_the_page_refuses_a_wrong_request(fake_apple, changes):
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.people.default.sign_in_on_web(authorization_url(fake_apple, **changes))
    assert refusal.value.code == "page_refused"


def test_a_page_of_another_site_is_not_opened(fake_apple):
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.people.default.sign_in_on_web("https://example.com/auth/authorize")
    assert refusal.value.code == "page_refused"


def test_a_revocation_ends_the_tokens_and_notifies(fake_apple, receiver):
    fake_apple.notify_at(receiver.url)
    ada = fake_apple.people.new()
    tokens = exchange(fake_apple, ada.sign_in().code)[1]
    notification, = ada.revoke()
    assert receiver.payloads == [notification.payload] and notification.status == 200
    assert notification.event["type"] == "consent-revoked" and notification.event["sub"] == ada.sub
    assert refresh(fake_apple, tokens["refresh_token"])[1]["error"] == "invalid_grant"


def test_other_actions_of_a_person_notify(fake_apple):
    ada = fake_apple.people.new(hides_email=True)
    ada.sign_in()
    assert [notification.type for notification in ada.forwarding(False)] == ["email-disabled"]
    assert not fake_apple.people.get(ada.sub).email_forwarding
    assert [notification.type for notification in ada.forwarding(True)] == ["email-enabled"]
    assert [notification.type for notification in ada.delete_account()] == ["account-deleted"]
    assert fake_apple.people.get(ada.sub).is_deleted


def test_a_new_password_ends_the_tokens(fake_apple):
    ada = fake_apple.people.new()
    tokens = exchange(fake_apple, ada.sign_in().code)[1]
    ada.change_password()
    assert refresh(fake_apple, tokens["refresh_token"])[0] == 400


def test_a_notification_without_a_cause(fake_apple, receiver):
    made = fake_apple.notify("consent-revoked", fake_apple.people.default, event_time=1)
    assert made.status is None and made.event["event_time"] == 1
    sent = fake_apple.notify("invented", url=receiver.url, event={"more": True}, forgery={"alg": "none"})
    assert sent.status == 200 and sent.event["more"] is True
    assert fake_apple.deliver(sent.payload, url=receiver.url) == 200
    assert receiver.payloads == [sent.payload] * 2
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.deliver(sent.payload)
    assert refusal.value.code == "notification_url_missing" and refusal.value.status == 409


def test_the_outbox_holds_repeats_and_reorders(fake_apple, receiver):
    fake_apple.notify_at(receiver.url)
    ada = fake_apple.people.new(hides_email=True)
    ada.sign_in()
    fake_apple.outbox.hold()
    fake_apple.outbox.duplicates(2)
    ada.forwarding(False)
    ada.forwarding(True)
    assert not receiver.payloads
    waiting = fake_apple.outbox.waiting()
    assert [held.type for held in waiting] == ["email-disabled", "email-enabled"]
    released = fake_apple.outbox.release("reversed")
    assert [sent.payload for sent in released] == [held.payload for held in reversed(waiting)]
    assert receiver.payloads == [sent.payload for sent in released for _ in range(2)]
    ada.forwarding(False)
    assert {sent.status for sent in fake_apple.outbox.shuffle()} == {200} and len(receiver.payloads) == 6
    ada.forwarding(True)
    fake_apple.outbox.clear()
    assert not fake_apple.outbox.release()
    fake_apple.outbox.hold(False)
    ada.forwarding(False)
    assert len(receiver.payloads) == 8


def test_the_outbox_repeats_what_was_refused(fake_apple, receiver):
    fake_apple.notify_at(receiver.url)
    ada = fake_apple.people.new()
    ada.sign_in()
    receiver.status = 500
    fake_apple.outbox.retries(True, first_retry_ms=100)
    assert [sent.status for sent in ada.revoke()] == [500]
    receiver.status = 200
    deadline = time.monotonic() + 20
    while len(receiver.payloads) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert receiver.payloads[0] == receiver.payloads[1]


def test_faults_end_when_they_are_cleared(fake_apple):
    code = fake_apple.people.default.sign_in().code
    fake_apple.faults.set("token", status=503)
    assert exchange(fake_apple, code)[0] == 503
    assert fake_apple.faults.all() == {"token": {"status": 503}}
    fake_apple.faults.clear("token")
    fake_apple.faults.set("keys", delay_ms=1, body="no_keys")
    assert exchange(fake_apple, code)[0] == 200
    fake_apple.faults.clear()
    assert not fake_apple.faults.all()


def test_a_code_expires_by_the_fakes_clock(fake_apple):
    code = fake_apple.people.default.sign_in().code
    assert abs(fake_apple.clock.advance(301) - (time.time() + 301)) < 30
    assert exchange(fake_apple, code)[0] == 400


def test_keys_rotate_at_once_and_step_by_step(fake_apple):
    old = {key.kid for key in fake_apple.keys.all() if key.published}
    new = {key.kid for key in fake_apple.keys.rotate() if key.published}
    assert new and not new & old
    steps = [fake_apple.keys.rotate_one_step() for _ in range(3)]
    assert [step for step, _ in steps] == ["publish", "sign", "retire"]
    assert steps[0][1] == steps[1][1]


def test_counters_count(fake_apple):
    exchange(fake_apple, fake_apple.people.default.sign_in().code)
    assert fake_apple.counters()["exchanges"] == 1


def test_redirect_uris_can_change(fake_apple):
    fake_apple.redirect_to(CALLBACK)
    assert fake_apple.people.default.sign_in_on_web(authorization_url(fake_apple)).address == CALLBACK
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.redirect_to("http://example.com/")
    assert refusal.value.code == "redirect_uri_refused"


def test_an_error_says_what_to_do(fake_apple):
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.people.get("nobody")
    assert (refusal.value.code, refusal.value.status) == ("user_not_found", 404)
    assert "apple.people.new()" in str(refusal.value)
    fake_apple.people.new(sub="ada")
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.people.new(sub="ada")
    assert refusal.value.code == "user_exists"
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.people.new(sub="not allowed")
    assert refusal.value.code == "member_malformed" and "sub" in refusal.value.detail


def test_each_advice_belongs_to_an_existing_code():
    sources = pathlib.Path(__file__).resolve().parents[2] / "Sources"
    fakes = "".join(file.read_text() for file in (sources / "Fakes").rglob("*Error*.swift"))
    ours = "".join(file.read_text() for file in (sources / "siwa_dev" / "siwa_dev").glob("*.py"))
    for code in ADVICE:
        assert f'Self("{code}"' in fakes or f'EmulatorError("{code}"' in ours, code


def test_a_reset_restores_the_start(fake_apple, receiver):
    keys, counters = fake_apple.keys.all(), fake_apple.counters()
    person = fake_apple.people.default
    fake_apple.people.new()
    fake_apple.keys.rotate()
    fake_apple.clock.advance(1_000)
    fake_apple.outbox.hold()
    fake_apple.notify_at(receiver.url)
    fake_apple.redirect_to(CALLBACK)
    exchange(fake_apple, person.sign_in().code)
    person.revoke()
    fake_apple.faults.set("token", status=500)
    assert fake_apple.outbox.waiting() and fake_apple.counters() != counters
    fake_apple.reset()
    assert fake_apple.keys.all() == keys and fake_apple.counters() == counters
    assert not fake_apple.faults.all() and not fake_apple.outbox.waiting()
    assert fake_apple.people.all() == [person]
    assert abs(fake_apple.clock.advance(0) - time.time()) < 100
    with pytest.raises(EmulatorError) as refusal:
        person.sign_in_on_web(authorization_url(fake_apple))
    assert refusal.value.code == "page_refused"
    # Nothing is held, and there is no receiver.
    person.sign_in()
    notification, = person.revoke()
    assert notification.status is None and notification.failure is None
    assert not fake_apple.outbox.waiting() and not receiver.payloads
    fake_apple.notify_at(receiver.url)
    person.sign_in()
    person.revoke()
    assert len(receiver.payloads) == 1


def test_apples_names_resolve_to_the_fake(fake_apple, monkeypatch):
    # Nothing listens there.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "before.example.com")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", "before")
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=ssl.create_default_context()))
    monkeypatch.setattr(urllib.request, "_opener", opener)
    resolve = socket.getaddrinfo
    with fake_apple.in_place_of_apple():
        assert os.environ["no_proxy"].startswith("before.example.com,appleid.apple.com,")
        with urllib.request.urlopen("https://appleid.apple.com/auth/keys") as response:
            assert json.load(response)["keys"]
        assert socket.getaddrinfo("127.0.0.1", 443)[0][4] == ("127.0.0.1", 443)
        # Event loops connect without Python's create_connection.
        asyncio.run(open_and_close())
    assert socket.getaddrinfo is resolve and os.environ["SSL_CERT_FILE"] == "before"
    assert "REQUESTS_CA_BUNDLE" not in os.environ and "no_proxy" not in os.environ
    assert os.environ["NO_PROXY"] == "before.example.com" and urllib.request._opener is opener
    assert fake_apple.counters()["key_set_requests"] == 1


async def open_and_close():
    _, writer = await asyncio.open_connection("appleid.apple.com", 443, ssl=ssl.create_default_context())
    writer.close()
    await writer.wait_closed()


@pytest.mark.fake_apple(client_ids=["com.example.only"])
def test_there_may_be_no_services_id(fake_apple):
    with pytest.raises(EmulatorError) as refusal:
        fake_apple.services_id
    assert refusal.value.code == "client_id_unknown"


def test_two_fakes_run_at_once():
    with FakeApple() as one, FakeApple(team_id="ABCDE12345") as other:
        assert one.port != other.port and one.private_key != other.private_key
        with open(one.private_key_file, encoding="ascii") as file:
            assert file.read() == one.private_key
        one.people.new(sub="ada")
        assert len(other.people.all()) == 1
        assert exchange(other, other.people.default.sign_in().code)[0] == 200
