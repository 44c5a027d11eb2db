"""An iOS team without a backend: the app signs in by Apple's sheet, gets tokens, and calls an API that only validates tokens.

The fake Apple plays the sheet, `requests` the app. The API verifies by PyJWT, and knows the issuer and nothing else of siwa.
"""

import http.server
import json
import threading

from relying import ISSUER, User, discovery, expect, given, introspect, is_refused, metadata, withdraw_consent

import jwt
import requests

PHONE = given["clients"]["phone"]["id"]
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
keys = jwt.PyJWKClient(discovery["jwks_uri"])


class API(http.server.BaseHTTPRequestHandler):
    """The whole backend of the app."""

    def do_GET(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        try:
            if scheme != "Bearer" or jwt.get_unverified_header(token).get("typ") != "at+jwt":
                raise jwt.InvalidTokenError
            claims = jwt.decode(
                token, keys.get_signing_key_from_jwt(token), algorithms=["ES256"], audience=ISSUER, issuer=ISSUER,
                options={"require": ["exp", "sub", "scope"]},
            )
        except jwt.PyJWTError:
            self.answer(401, {})
            return
        if "devices.control" not in claims["scope"].split():
            self.answer(403, {})
            return
        self.answer(200, {"user": claims["sub"]})

    def answer(self, status, members):
        body = json.dumps(members).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), API)
threading.Thread(target=server.serve_forever, daemon=True).start()


def call(token):
    return requests.get(f"http://127.0.0.1:{server.server_port}/devices", headers={"Authorization": f"Bearer {token}"})


def sheet(subject, **more):
    """The app asks for a nonce and shows Apple's sheet. Returns the parameters of its token request."""
    minted = requests.post(f"{ISSUER}/oauth/nonce", data={"client_id": PHONE})
    expect(minted.status_code == 201 and minted.json()["expires_in"] == 600, minted.text)
    said = requests.post(
        f"{given['apple']}/emulator/identity-tokens",
        # The fake Apple gives codes for its own apps only.
        json={"sub": subject, "nonce": minted.json()["nonce_sha256"], **({} if "client_id" in more else {"code": True}), **more},
    ).json()
    form = {
        "grant_type": TOKEN_EXCHANGE, "client_id": PHONE, "subject_token": said["identity_token"],
        "subject_token_type": ID_TOKEN, "nonce": minted.json()["nonce"],
    }
    if "authorization_code" in said:
        form["authorization_code"] = said["authorization_code"]
    if "user" in said:
        form["user"] = said["user"] if isinstance(said["user"], str) else json.dumps(said["user"])
    return form


def exchange(form):
    return requests.post(metadata["token_endpoint"], data=form)


expect(TOKEN_EXCHANGE in metadata["grant_types_supported"], "the metadata names the grant type")
user = User()
form = sheet(user.subject, include_user=True)
answer = exchange({**form, "scope": "openid email devices.control"})
expect(answer.status_code == 200, answer.text)
tokens = answer.json()
expect(tokens["issued_token_type"] == "urn:ietf:params:oauth:token-type:access_token", tokens["issued_token_type"])
expect(tokens["token_type"] == "Bearer" and tokens["scope"] == "openid email devices.control", "the token answer")
claims = jwt.decode(
    tokens["id_token"], keys.get_signing_key_from_jwt(tokens["id_token"]), algorithms=["RS256"], audience=PHONE,
    issuer=ISSUER,
)
said = call(tokens["access_token"])
expect(said.status_code == 200 and said.json() == {"user": claims["sub"]}, said.text)
expect(call(tokens["id_token"]).status_code == 401, "an ID token opens nothing")
expect(call(form["subject_token"]).status_code == 401, "neither does Apple's token")

# The same sign-in is good once.
is_refused(exchange(form), "invalid_request")
# An app that took the token elsewhere does not know the nonce.
stolen = sheet(user.subject)
is_refused(exchange({**stolen, "nonce": sheet(user.subject)["nonce"]}), "invalid_request")
# Neither a token of another app, nor a client that has no native sign-in.
is_refused(exchange(sheet(user.subject, client_id="com.other.app")), "invalid_request")
is_refused(exchange({**sheet(user.subject), "client_id": given["clients"]["native"]["id"]}), "unauthorized_client")
expect(
    requests.post(f"{ISSUER}/oauth/nonce", data={"client_id": given["clients"]["native"]["id"]}).status_code == 400,
    "no nonce for other clients",
)

# Narrower tokens, and a refresh.
narrow = exchange({**sheet(user.subject), "scope": "openid"}).json()
expect(call(narrow["access_token"]).status_code == 403, "the API asks for its scope")
refreshed = requests.post(
    metadata["token_endpoint"],
    data={"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": PHONE},
).json()
expect("issued_token_type" not in refreshed and refreshed["refresh_token"] != tokens["refresh_token"], "rotated")
expect(call(refreshed["access_token"]).status_code == 200, "the new one is good")

# In the settings of the iPhone the user stops using the app, and signs in again later.
withdraw_consent(user)
expect(introspect(refreshed["access_token"]) == {"active": False}, "inactive after the consent was withdrawn")
is_refused(
    requests.post(
        metadata["token_endpoint"],
        data={"grant_type": "refresh_token", "refresh_token": refreshed["refresh_token"], "client_id": PHONE},
    )
)
requests.post(f"{given['apple']}/emulator/clock", json={"advance_seconds": 2})
again = exchange(sheet(user.subject))
expect(again.status_code == 200, again.text)
print("done")
