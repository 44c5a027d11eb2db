import urllib.parse

import allauth_site  # configures Django
import pytest
from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

HOST = "site.example.com"
CALLBACK = f"https://{HOST}/accounts/apple/login/callback/"

pytestmark = pytest.mark.fake_apple(redirect_uris=[CALLBACK])


@pytest.fixture(autouse=True)
def apple(fake_apple):
    """The fake in place of Apple, and its key at the site."""
    SocialApp.objects.create(
        provider="apple",
        client_id=f"{fake_apple.services_id},{fake_apple.client_id}",
        key=fake_apple.team_id,
        secret=fake_apple.key_id,
        settings={"certificate_key": fake_apple.private_key},
    )
    with fake_apple.in_place_of_apple():
        yield fake_apple
    for model in (SocialApp, User, Session):
        model.objects.all().delete()


def new_browser():
    return Client(HTTP_HOST=HOST, HTTP_X_FORWARDED_PROTO="https")


def sign_in(person):
    """Signs in on the web, as a browser does. Returns the browser."""
    browser = new_browser()
    response = person.sign_in_on_web(browser.get("/accounts/apple/login/")["Location"])
    assert response.address == CALLBACK
    # Apple's page is another site, so its form comes without the session of this site.
    posted = new_browser().post(urllib.parse.urlsplit(CALLBACK).path, response.form)
    browser.cookies.update(posted.cookies)
    assert browser.get(posted["Location"])["Location"] == "/me"
    return browser


def post_token(sign_in):
    """Posts the token as the iPhone app does. django-allauth wants the client ID as it is configured."""
    token = {"client_id": SocialApp.objects.get().client_id, "id_token": sign_in.identity_token}
    body = {"provider": "apple", "process": "login", "token": token}
    return new_browser().post("/_allauth/app/v1/auth/provider/token", body, content_type="application/json")


def test_a_person_who_hides_the_address_signs_in(apple):
    ada = apple.people.new("Ada", "Lovelace", hides_email=True)
    assert sign_in(ada).get("/me").json() == {"email": ada.relay_email, "first_name": "Ada"}


def test_the_second_sign_in_has_no_name_and_finds_the_same_user(apple):
    ada = apple.people.new("Ada", "Lovelace")
    sign_in(ada)
    assert sign_in(ada).get("/me").json()["first_name"] == "Ada"
    assert User.objects.count() == 1


def test_a_person_cancels(apple):
    browser = new_browser()
    url = browser.get("/accounts/apple/login/")["Location"]
    response = apple.people.new().sign_in_on_web(url, cancel=True)
    posted = new_browser().post(urllib.parse.urlsplit(CALLBACK).path, response.form)
    assert browser.get(posted["Location"]).status_code == 401
    assert browser.get("/me").status_code == 401


def test_apple_is_down(apple):
    apple.faults.set("token", status=503)
    browser = new_browser()
    response = apple.people.new().sign_in_on_web(browser.get("/accounts/apple/login/")["Location"])
    posted = new_browser().post(urllib.parse.urlsplit(CALLBACK).path, response.form)
    browser.cookies.update(posted.cookies)
    assert browser.get(posted["Location"]).status_code == 401
    assert browser.get("/me").status_code == 401


def test_the_app_posts_its_token(apple):
    assert post_token(apple.people.new().sign_in()).status_code == 200


@pytest.mark.parametrize(
    "forgery",
    [
        {"signature": "wrong_key"},
        {"alg": "none"},
        {"time_offset": -172_800},
        {"claims": {"aud": "com.other.app"}},
        {"claims": {"iss": "https://example.com"}},
    ],
)
def test_a_forged_token_is_refused(apple, forgery):
    assert post_token(apple.people.new().sign_in(forgery=forgery)).status_code == 400


def test_a_revocation_ends_the_session(apple):
    ada = apple.people.new("Ada")
    browser = sign_in(ada)
    for notification in ada.revoke():
        answer = new_browser().post(
            "/apple/notifications", {"payload": notification.payload}, content_type="application/json"
        )
        assert answer.status_code == 200
    assert browser.get("/me").status_code == 401
    assert not SocialToken.objects.exists()


def test_a_forged_notification_changes_nothing(apple):
    ada = apple.people.new("Ada")
    browser = sign_in(ada)
    forged = apple.notify("consent-revoked", ada, client_id=apple.services_id, forgery={"signature": "wrong_key"})
    answer = new_browser().post(
        "/apple/notifications", {"payload": forged.payload}, content_type="application/json"
    )
    assert answer.status_code == 400
    assert browser.get("/me").status_code == 200
