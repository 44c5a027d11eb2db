"""What the drivers of foreign libraries share: the way to the fake Apple, and the user with the browser.

A driver is started with one argument, a JSON object: `port` of the fake Apple, `team`, `client_id`, `key_id`, `key` (the .p8
file) and `redirect_uri`. Its environment names the CA. Nothing of a library is changed: they all hard-code
https://appleid.apple.com, and what leads this name to the test is below them, as a hosts file would be.
"""

import json
import socket
import sys
import time
import urllib.parse

import jwt
import requests

from pages import Forms, expect

HOST = "appleid.apple.com"
ISSUER = f"https://{HOST}"

given = json.loads(sys.argv[1])
resolve = socket.getaddrinfo


def lead_here(host, port, *rest, **more):
    # No other name: a driver that asks for one must not leave this machine.
    if host != HOST or int(port) != 443:
        raise OSError(f"{host}:{port} was asked for, and only {HOST}:443 is expected")
    return resolve("127.0.0.1", given["port"], *rest, **more)


socket.getaddrinfo = lead_here


def client_secret():
    now = int(time.time())
    claims = {"iss": given["team"], "iat": now, "exp": now + 600, "aud": ISSUER, "sub": given["client_id"]}
    return jwt.encode(claims, private_key(), algorithm="ES256", headers={"kid": given["key_id"]})


def private_key():
    with open(given["key"], encoding="ascii") as file:
        return file.read()


def finish():
    """Each step was taken once, at the fake Apple and nowhere else."""
    counters = requests.get(f"{ISSUER}/emulator/counters").json()
    for step in ("authorizations", "exchanges", "refreshes", "revocations"):
        expect(counters[step] == 1, f"{step}: {counters}")
    print("done")


class User:
    """A browser user, who signs in on Apple's page and allows what the app requests."""

    def __init__(self):
        self.browser = requests.Session()

    def sign_in(self, url):
        """Returns what Apple's page sends back: the address, and the fields of its form."""
        page = self.browser.get(url)
        for button in ("choose", "allow"):
            expect(page.status_code == 200, f"{button} at {page.url.split('?')[0]}: {page.status_code}\n{page.text}")
            form = next((form for form in Forms(page.text).forms if button in form["buttons"]), None)
            expect(form, f"no button {button} on the page:\n{page.text}")
            page = self.browser.post(
                urllib.parse.urljoin(page.url, form["action"]),
                data={**form["fields"], button: form["buttons"][button]},
                headers={"Origin": ISSUER},
            )
        expect(page.status_code == 200, f"{page.status_code}\n{page.text}")
        form = Forms(page.text).forms[0]
        return form["action"], form["fields"]
