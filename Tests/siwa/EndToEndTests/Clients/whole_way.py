"""One user from the first sign-in to the end, in enforced mode: on an iPhone, by the operator, and in a browser.

The app attests its key and gets tokens without a browser. A web client gets tokens in the browser. The operator disables
the account and enables it. The user removes the web client on the page of connections. In the end the account is erased.
"""

import urllib.parse

from iphone import ask, make_key, proven, refresh, register, sheet, tokens, userinfo
from pages import Forms
from relying import ISSUER, User, backend, expect, given, introspect, is_refused, metadata

import requests

WEB = given["clients"]["web"]
REDIRECT_URI = f"{given['apple']}/site"
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def is_good(token):
    return introspect(token)["active"]


def change(account, what, body):
    answer = backend.post(f"{ISSUER}/v1/accounts/{account}/{what}", json=body)
    expect(answer.status_code == 200, answer.text)


def grants(account):
    found = backend.get(f"{ISSUER}/v1/accounts/{account}/grants").json()["grants"]
    return {grant["client_id"]: grant["id"] for grant in found}


def link_the_web_client(user):
    """The user agrees in the browser, and the client redeems its code."""
    query = {
        "client_id": WEB["id"], "redirect_uri": REDIRECT_URI, "scope": "openid profile offline_access", "state": "s",
        "response_type": "code", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
    }
    url = user.authorize(f"{metadata['authorization_endpoint']}?{urllib.parse.urlencode(query)}", REDIRECT_URI)
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["code"][0]
    return tokens({
        "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER,
        "client_id": WEB["id"], "client_secret": WEB["secret"],
    })


# The user signs in on the iPhone, and the app gets tokens.
user = User()
key = make_key()
register(key)
phone = tokens(proven(key, sheet(user)))
account = userinfo(phone["access_token"]).json()["sub"]
web = link_the_web_client(user)
expect(is_good(phone["access_token"]) and is_good(web["access_token"]), "both are good")
expect(userinfo(web["access_token"]).json()["sub"] == account, "one account")

# The operator disables the account. Nothing of it works, and nothing is lost.
change(account, "disable", {"reason": "security"})
expect(not is_good(phone["access_token"]) and not is_good(web["access_token"]), "suspended")
is_refused(ask(proven(key, refresh(phone["refresh_token"]))))
refused = ask(proven(key, sheet(user)))
is_refused(refused, "invalid_request")
expect("account_disabled" in refused.json()["error_description"], refused.text)
expect(userinfo(phone["access_token"]).status_code == 401, "userinfo")
page = user.browser.get(metadata["account_connections_uri"])
expect(page.status_code != 200 or WEB["id"] not in page.text, "no connections are shown")

# The operator enables it.
change(account, "enable", {})
expect(is_good(phone["access_token"]) and is_good(web["access_token"]), "good again")
phone = tokens(proven(key, refresh(phone["refresh_token"])))

# The user removes the web client on the page of connections.
page = user.browser.get(metadata["account_connections_uri"])
expect(page.status_code == 200, f"{page.status_code} {page.text}")
known = grants(account)
expect(set(known) == {WEB["id"], given["clients"]["phone"]["id"]}, str(known))
form = next(form for form in Forms(page.text).forms if known[WEB["id"]] in form["fields"].values())
answer = user.browser.post(urllib.parse.urljoin(page.url, form["action"]), data=form["fields"], headers={"Origin": ISSUER})
expect(answer.status_code == 200 and "The access was removed." in answer.text, answer.text)
expect(not is_good(web["access_token"]) and is_good(phone["access_token"]), "only the web client has ended")
expect(set(grants(account)) == {given["clients"]["phone"]["id"]}, "one grant is left")

# The end: the account is erased.
last = sheet(user)
answer = backend.delete(f"{ISSUER}/v1/accounts/{account}")
expect(answer.status_code in (200, 202), answer.text)
expect(not is_good(phone["access_token"]), "ended")
is_refused(ask(proven(key, refresh(phone["refresh_token"]))))
expect(userinfo(phone["access_token"]).status_code == 401, "userinfo")
is_refused(ask(proven(key, last)), "invalid_request")
expect(backend.get(f"{ISSUER}/v1/accounts/{account}").status_code == 404, "no account")
page = user.browser.get(metadata["account_connections_uri"], allow_redirects=False)
expect(page.status_code == 303, "the browser has to sign in again")

# The feed tells the backend of the app all of it. Every judged request was counted.
events = [
    event["type"] for event in backend.get(f"{ISSUER}/v1/events").json()["events"] if event.get("account_id") == account
]
expect(events[0] == "account_created" and events[-1] == "account_erased", str(events))
for event in ("grant_created", "account_disabled", "account_enabled", "grant_revoked"):
    expect(event in events, f"{event} in {events}")
metrics = backend.get(f"{ISSUER}/metrics").text
expect(any("siwa_app_check" in line and "verified" in line and not line.endswith(" 0") for line in metrics.splitlines()), metrics)
print("done")
