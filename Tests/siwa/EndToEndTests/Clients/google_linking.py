"""The fake Google links accounts in the browser and by App Flip, refreshes, calls the API, and unlinks on either side."""

from relying import ISSUER, User, backend, expect, given, introspect, metadata, withdraw_consent

import time

import requests

GOOGLE = given["google"]


def control(path, **members):
    answer = requests.post(f"{GOOGLE}/control/{path}", json=members)
    expect(answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}")
    return answer.json()


def newest():
    return requests.get(f"{GOOGLE}/control/links").json()["links"][-1]


def grants(account):
    return backend.get(f"{ISSUER}/v1/accounts/{account}/grants").json()["grants"]


def eventually(condition, words):
    """A worker reports to Google, at the latest within ten seconds."""
    end = time.monotonic() + 30
    while not condition():
        expect(time.monotonic() < end, words)
        time.sleep(0.1)


def link_in_browser(user):
    begun = control("link", mode="browser", user_locale="en")
    answer = user.authorize(begun["url"], begun["redirect_uri"])
    page = user.browser.get(answer, allow_redirects=False)
    expect(page.status_code == 303, f"Google's page: {page.status_code} {page.text}")
    link = newest()
    expect(link["status"] == "linked" and link["mode"] == "browser", f"{link}")
    return link


def link_by_app_flip(user, decision="granted"):
    begun = control("link", mode="app_flip")
    query = requests.utils.urlparse(begun["url"]).query
    parameters = dict(requests.compat.unquote(part).split("=", 1) for part in query.split("&"))
    body = {
        name: parameters[name]
        for name in ("client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method")
    }
    body |= {"scope": parameters["scope"].replace("+", " "), "decision": decision}
    if decision == "granted":
        token = requests.post(f"{given['apple']}/emulator/identity-tokens", json={"sub": user.subject}).json()
        body["identity_token"] = token["identity_token"]
    answer = backend.post(f"{ISSUER}/v1/oauth/app-flip", json=body)
    expect(answer.status_code == 200, f"App Flip: {answer.status_code} {answer.text}")
    said = answer.json()
    expect("iss=" not in said["redirect_to"], "the answer of App Flip has no iss")
    expect(requests.get(said["redirect_to"], allow_redirects=False).status_code == 303, "Google's redirect URI")
    return said, newest()


# In the browser; then Google refreshes and calls the app's API.
ada = User()
link = link_in_browser(ada)
account = introspect(link["access_token"])["sub"]
refreshed = control("refresh", link=link["id"])
expect(refreshed["status"] == 200 and "refresh_token" not in refreshed["body"], "Google's are not rotated")
expect(control("call", link=link["id"])["body"]["active"] is True, "the API takes the token")
expect([grant["client_id"] for grant in grants(account)] == ["google"], f"{grants(account)}")

# Unlinked at Google: the token is revoked here, and Google need not be told.
expect(control("unlink", link=link["id"])["status"] == 200, "Google revokes")
expect(grants(account) == [], "the last token ends the grant")

# By App Flip, as the same account; unlinked in the app, and Google is told.
said, link = link_by_app_flip(ada)
expect(said["outcome"] == "code" and link["mode"] == "app_flip" and link["status"] == "linked", f"{said} {link}")
expect(introspect(link["access_token"])["sub"] == account, "the same user has the same account")
grant = grants(account)[0]
ended = backend.delete(f"{ISSUER}/v1/accounts/{account}/grants/{grant['id']}")
expect(ended.status_code == 204, f"unlinked in the app: {ended.status_code} {ended.text}")
expect(introspect(link["access_token"]) == {"active": False}, "ended at once")
eventually(lambda: newest()["status"] == "unlinked_by_service", "Google has the event")
events = requests.get(f"{GOOGLE}/control/events").json()["events"]
expect([event["type"] for event in events][-1] == "token-revoked", f"{events}")

# The user refuses in the app.
said, link = link_by_app_flip(ada, "denied")
expect(said["outcome"] == "access_denied" and link["error"] == "access_denied", f"{said} {link}")
expect(link["goes_on_in_browser"] is False, "Google ends linking")

# Apple's word reaches Google's tokens.
grace = User()
link = link_in_browser(grace)
withdraw_consent(grace)
expect(introspect(link["access_token"]) == {"active": False}, "inactive at once")
refused = control("refresh", link=link["id"])
expect(refused["status"] == 400 and refused["body"]["error"] == "invalid_grant", f"{refused}")
eventually(
    lambda: len(requests.get(f"{GOOGLE}/control/events").json()["events"]) > len(events), "Google has that event too"
)
print("done")
