"""Authlib's OAuth 2.0 session on a device without a browser (RFC 8628): asks for codes, polls, and uses the tokens.

A `requests` session plays the browser of the user, on another machine.
"""

import urllib.parse

from relying import ISSUER, User, expect, given, introspect, metadata, withdraw_consent

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
CLIENT = given["clients"]["native"]["id"]
TV = "ExampleTV/1.0"
session = OAuth2Session(CLIENT, token_endpoint_auth_method="none", scope="openid email devices.control")


def begin():
    answer = requests.post(
        metadata["device_authorization_endpoint"], data={"client_id": CLIENT, "scope": session.scope},
        headers={"User-Agent": TV},
    )
    expect(answer.status_code == 200, answer.text)
    codes = answer.json()
    expect(codes["expires_in"] == 600 and codes["interval"] == 5, f"{codes}")
    expect(codes["verification_uri"] == f"{ISSUER}/oauth/device", codes["verification_uri"])
    return codes


def poll(codes):
    return session.fetch_token(metadata["token_endpoint"], grant_type=DEVICE_CODE, device_code=codes["device_code"])


def is_told(codes, error):
    try:
        poll(codes)
        expect(False, f"the poll is told {error}")
    except OAuthError as refusal:
        expect(refusal.error == error, f"{refusal.error} in place of {error}")


def decide(user, url, decision, leave_out=()):
    """Follows pages and redirects until the user has decided. Returns the page that asked, and the last page."""
    page, asked = user.browser.get(url, allow_redirects=False), None
    for _ in range(16):
        if page.status_code == 303 or page.is_redirect:
            target = urllib.parse.urljoin(page.url, page.headers["Location"])
            page = user.browser.get(target, allow_redirects=False)
            continue
        expect(page.status_code == 200, f"{page.url.split('?')[0]}: {page.status_code}\n{page.text}")
        if "<form" not in page.text:
            return asked, page
        asked = page
        page = user.press(page, decision, leave_out)
    expect(False, "the user never came to an end")


expect(DEVICE_CODE in metadata["grant_types_supported"], "the metadata names the grant type")

# The user agrees, but for one scope.
user, codes = User(), begin()
is_told(codes, "authorization_pending")
is_told(codes, "slow_down")
asked, end = decide(user, codes["verification_uri_complete"], "agree", leave_out=["devices.control"])
for words in (codes["user_code"], TV, "127.0.0.1", "Example for desktops"):
    expect(words in asked.text, f"the page says {words}")
expect("Your device is connected" in end.text, end.text)
tokens = poll(codes)
expect(tokens["scope"] == "openid email", tokens["scope"])
expect(session.get(metadata["userinfo_endpoint"]).json()["email"], "userinfo")
expect(introspect(tokens["access_token"])["active"] is True, "the access token")
old, asked_for = tokens["refresh_token"], session.scope
# Authlib repeats the scope of the session, and a refresh cannot ask for more than was granted.
session.scope = tokens["scope"]
tokens = session.refresh_token(metadata["token_endpoint"], old)
expect(tokens["refresh_token"] != old, "refresh tokens are rotated")
is_told(codes, "invalid_grant")
expect(introspect(tokens["access_token"])["active"] is True, "a retry ends nothing")
session.scope = asked_for

# The same browser has a session: the user types the code of a second device.
second = begin()
typed = second["user_code"].replace("-", "").lower()
asked, end = decide(user, f"{second['verification_uri']}?user_code={typed}", "agree")
tokens = poll(second)
expect("devices.control" in tokens["scope"], tokens["scope"])

# The user refuses.
third = begin()
decide(user, third["verification_uri_complete"], "cancel")
is_told(third, "access_denied")

# The user withdraws the consent at Apple between the page and the poll.
fourth = begin()
decide(user, fourth["verification_uri_complete"], "agree")
withdraw_consent(user)
is_told(fourth, "invalid_grant")
expect(introspect(tokens["access_token"]) == {"active": False}, "inactive after the consent was withdrawn")

# Another client does not get what this client may have.
fifth = begin()
other = OAuth2Session(given["clients"]["phone"]["id"], token_endpoint_auth_method="none")
try:
    other.fetch_token(metadata["token_endpoint"], grant_type=DEVICE_CODE, device_code=fifth["device_code"])
    expect(False, "a client without allow_device_grant is refused")
except OAuthError as refusal:
    expect(refusal.error == "unauthorized_client", refusal.error)
print("done")
