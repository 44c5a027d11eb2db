"""Flask-OIDC, whose settings do not know PKCE: the client of Authlib that it makes is told by hand."""

from relying import ISSUER, User, expect, given, is_missing, without_pkce

from flask import Flask, session
from flask_oidc import OpenIDConnect

web = given["clients"]["web"]


def sign_in(client, **arguments):
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY="for this test only", SERVER_NAME="localhost:9000", OIDC_SCOPES="openid email profile",
        OIDC_CLIENT_SECRETS={"web": {"client_id": client["id"], "client_secret": client["secret"], "issuer": ISSUER}},
    )
    oidc = OpenIDConnect(app)
    oidc.oauth.oidc.client_kwargs.update(arguments)
    browser = app.test_client()
    departure = browser.get("/login", base_url="http://localhost:9000")
    expect(departure.status_code == 302, departure.status_code)
    answer = User().authorize(departure.headers["Location"], web["redirect_uri"])
    with browser:
        arrival = browser.get(answer, base_url="http://localhost:9000")
        return answer, arrival.status_code, dict(session)


answer, status, kept = sign_in(web, code_challenge_method="S256")
expect(status == 302 and kept["oidc_auth_profile"]["sub"].startswith("acc_"), f"{status} {answer}")
expect("@" in kept["oidc_auth_profile"]["email"], "the address")

answer, _, _ = sign_in(web)
is_missing("code challenge", answer)
# It sends a nonce, and compares it with the one of the ID token.
answer, status, kept = sign_in(without_pkce)
expect(status == 302 and kept["oidc_auth_profile"]["sub"].startswith("acc_"), f"{status} {answer}")
print("done")
