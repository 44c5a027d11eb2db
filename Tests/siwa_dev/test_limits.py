"""What docs/test-your-backend.md says about the libraries of its examples."""

import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples"))
import test_allauth_site as site

pytestmark = site.pytestmark
apple = site.apple


def test_django_allauth_has_no_nonce(apple):
    query = urllib.parse.urlsplit(site.new_browser().get("/accounts/apple/login/")["Location"]).query
    assert "nonce" not in urllib.parse.parse_qs(query)
    sign_in = apple.people.new().sign_in(nonce="n-1")
    assert [site.post_token(sign_in).status_code for _ in range(2)] == [200, 200]


def test_a_late_revocation_signs_a_user_out_who_has_signed_in_again(apple):
    ada = apple.people.new()
    site.sign_in(ada)
    late, = ada.revoke()
    browser = site.sign_in(ada)
    body = {"payload": late.payload}
    site.new_browser().post("/apple/notifications", body, content_type="application/json")
    assert browser.get("/me").status_code == 401


def test_django_allauth_does_not_revoke_the_tokens_of_a_deleted_user(apple):
    site.sign_in(apple.people.new())
    site.User.objects.all().delete()
    assert apple.counters()["revoke_requests"] == 0
