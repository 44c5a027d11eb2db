"""A Flask application that signs users in with Apple by Authlib."""

import time

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, request, session, url_for
from joserfc import jwt
from joserfc.jwk import ECKey
from requests import RequestException

APPLE = "https://appleid.apple.com"


def client_secret(client_id, team_id, key_id, private_key):
    """Apple's client secret is a JWT that the team's key signs. It is valid for at most six months."""
    now = int(time.time())
    claims = {"iss": team_id, "iat": now, "exp": now + 86_400, "aud": APPLE, "sub": client_id}
    return jwt.encode({"alg": "ES256", "kid": key_id}, claims, ECKey.import_key(private_key))


def create_app(client_id, team_id, key_id, private_key):
    app = Flask(__name__)
    app.secret_key = "replace me"
    # Apple's page posts from another site, and the session has the state. So the cookie must not be SameSite=Lax.
    app.config.update(SESSION_COOKIE_SAMESITE="None", SESSION_COOKIE_SECURE=True)
    apple = OAuth(app).register(
        "apple",
        client_id=client_id,
        client_secret=client_secret(client_id, team_id, key_id, private_key),
        server_metadata_url=f"{APPLE}/.well-known/openid-configuration",
        authorize_params={"response_mode": "form_post"},
        client_kwargs={"scope": "openid name email", "token_endpoint_auth_method": "client_secret_post"},
    )

    @app.get("/login")
    def login():
        return apple.authorize_redirect(url_for("callback", _external=True))

    @app.post("/callback")
    def callback():
        # Authlib looks for Apple's error in the query only, and Apple posts a form.
        if "error" in request.form:
            return {"error": request.form["error"]}, 401
        try:
            tokens = apple.authorize_access_token()
        except OAuthError as error:
            return {"error": error.error}, 401
        except RequestException:
            return {"error": "apple_unavailable"}, 503
        session["sub"] = tokens["userinfo"]["sub"]
        return redirect(url_for("me"))

    @app.get("/me")
    def me():
        return {"sub": session["sub"]} if "sub" in session else ({}, 401)

    return app
