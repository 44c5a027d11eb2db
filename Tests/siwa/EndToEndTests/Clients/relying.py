"""What the drivers of OAuth libraries share: the user with the browser, and the app's backend.

A driver is started with one argument, a JSON object: `issuer` of siwa, `apple` and `google` (the fake ones), `api_key` of the
app's backend, `clients` (IDs and secrets of `siwa dev`), and `file` where a driver keeps what it needs after a restart.
"""

import json
import os
import sys
import urllib.parse

import requests

from pages import Forms, expect

# Both libraries refuse http otherwise, and `siwa dev` has no certificate.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
# A user may leave a scope out.
os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"

given = json.loads(sys.argv[1])
ISSUER = given["issuer"]
metadata = requests.get(f"{ISSUER}/.well-known/oauth-authorization-server").json()
discovery = requests.get(f"{ISSUER}/.well-known/openid-configuration").json()
backend = requests.Session()
backend.headers["Authorization"] = f"Bearer {given['api_key']}"
# Of the drivers that try a library: a second client, with `require_pkce: false`.
without_pkce = given["clients"].get("without_pkce")


class User:
    """A user with a new Apple Account and a browser, who agrees to what a client asks for."""

    def __init__(self):
        self.browser = requests.Session()
        self.pages = []
        user = {"first_name": "Ada", "last_name": "Lovelace"}
        self.subject = requests.post(f"{given['apple']}/emulator/users?format=text", json=user).text.strip()

    def authorize(self, url, redirect_uri, decision="agree", leave_out=()):
        """Follows pages and redirects until the browser is sent to the redirect URI, and returns the whole URL."""
        page = self.browser.get(url, allow_redirects=False)
        for _ in range(16):
            if page.is_redirect or page.status_code == 303:
                target = urllib.parse.urljoin(page.url, page.headers["Location"])
                if target.split("?")[0].rstrip("/") == redirect_uri.rstrip("/"):
                    expect(page.status_code == 303, f"the way to the client is a 303, not {page.status_code}")
                    return target
                page = self.browser.get(target, allow_redirects=False)
                continue
            expect(page.status_code == 200, f"{page.url.split('?')[0]}: {page.status_code}\n{page.text}")
            page = self.press(page, decision, leave_out)
        expect(False, "the browser never came to the client")

    def press(self, page, decision, leave_out):
        forms = Forms(page.text).forms
        for button, value in (("choose", self.subject), ("allow", None), ("decision", decision)):
            form = next((form for form in forms if button in form["buttons"]), None)
            if form:
                self.pages.append(button)
                fields = {**form["fields"], button: value or form["buttons"][button]}
                for scope in leave_out:
                    fields.pop(f"scope:{scope}", None)
                break
        else:
            # Apple's last page posts its form by itself.
            form, fields = forms[0], forms[0]["fields"]
        origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(page.url))
        return self.browser.post(
            urllib.parse.urljoin(page.url, form["action"]), data=fields, headers={"Origin": origin}, allow_redirects=False
        )


def introspect(token):
    """As the app's API asks."""
    answer = backend.post(metadata["introspection_endpoint"], data={"token": token})
    expect(answer.status_code == 200, f"introspection: {answer.status_code} {answer.text}")
    return answer.json()


def withdraw_consent(user):
    """In the settings of the iPhone the user stops using the app. Apple notifies siwa before this returns."""
    told = requests.post(f"{given['apple']}/emulator/users/{user.subject}/revoke-consent?format=text")
    expect(told.text.strip() == "200", f"the notification: {told.text}")


def is_refused(answer, error="invalid_grant", status=400):
    expect(answer.status_code == status, f"{answer.status_code} {answer.text}")
    expect(answer.json()["error"] == error, answer.text)
    expect(answer.headers.get("Cache-Control") == "no-store", "an answer of the token endpoint is not stored")


def is_missing(what, answer):
    """The redirect to a client whose request lacks something says what."""
    said = urllib.parse.parse_qs(urllib.parse.urlsplit(answer).query)
    expect(said.get("error") == ["invalid_request"] and what in said["error_description"][0], answer)
