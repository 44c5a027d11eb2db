"""Well-known libraries for Sign in with Apple, unchanged, against the fake Apple of the wheel.

scripts/test-foreign-clients installs them and runs this file, which prints a line for each: what it did, or why it
cannot work. Each client runs in a process of its own, because Django has one configuration for each.
"""

import asyncio
import importlib.metadata
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import urllib.parse

from siwa_dev import FakeApple

SITE = "https://localhost"
DRIVERS = pathlib.Path(__file__).resolve().parents[1] / "siwa" / "EndToEndTests" / "Clients"

# Name of the distribution, redirect URI, and the function.
clients = {}


def client(name, redirect_uri=f"{SITE}/callback"):
    def add(function):
        clients[name] = (redirect_uri, function)
        return function

    return add


def django(urls, apps, **settings):
    """Configures Django, and returns a browser for its site."""
    import django
    from django.conf import settings as configuration
    from django.core.management import call_command
    from django.test import Client

    configuration.configure(
        SECRET_KEY="for this run only", ALLOWED_HOSTS=["localhost"], ROOT_URLCONF=__name__, USE_TZ=True,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", *apps],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware", *settings.pop("more_middleware", ()),
        ],
        SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"), SESSION_COOKIE_SAMESITE=None, **settings,
    )
    django.setup()
    globals()["urlpatterns"] = urls()
    call_command("migrate", verbosity=0)
    return Client(HTTP_HOST="localhost", HTTP_X_FORWARDED_PROTO="https")


def driver(name):
    """A driver of the service's own tests: it authorizes, exchanges, refreshes and revokes."""

    def run(apple, redirect_uri):
        given = {
            "port": apple.port, "team": apple.team_id, "client_id": apple.services_id, "key_id": apple.key_id,
            "key": apple.private_key_file, "redirect_uri": redirect_uri,
        }
        command = [sys.executable, str(DRIVERS / f"{name}.py"), json.dumps(given)]
        subprocess.run(command, check=True, stdout=subprocess.PIPE)
        return "signs in on the web, refreshes and revokes"

    return run


client("social-auth-core", "http://localhost:9000/complete/apple-id/")(driver("social_auth"))
client("django-allauth", "http://localhost:9000/accounts/apple/login/callback/")(driver("allauth_client"))
client("Authlib", "http://localhost:9000/signed-in")(driver("authlib_client"))


@client("social-auth-app-django", f"{SITE}/complete/apple-id/")
def social_auth_app_django(apple, redirect_uri):
    from django.urls import include, path

    browser = django(
        lambda: [path("", include("social_django.urls", namespace="social"))], ["social_django"],
        AUTHENTICATION_BACKENDS=["social_core.backends.apple.AppleIdAuth"], LOGIN_REDIRECT_URL="/in/",
        SOCIAL_AUTH_APPLE_ID_CLIENT=apple.services_id, SOCIAL_AUTH_APPLE_ID_TEAM=apple.team_id,
        SOCIAL_AUTH_APPLE_ID_KEY=apple.key_id, SOCIAL_AUTH_APPLE_ID_SECRET=apple.private_key,
        SOCIAL_AUTH_APPLE_ID_SCOPE=["name", "email"],
    )
    begun = browser.post("/login/apple-id/")
    arrival = browser.post(
        "/complete/apple-id/", apple.people.new("Ada").sign_in_on_web(begun["Location"]).form
    )
    assert arrival["Location"] == "/in/", arrival.content
    from django.contrib.auth.models import User

    assert User.objects.get().first_name == "Ada"
    return "signs in on the web"


@client("dj-rest-auth")
def dj_rest_auth(apple, redirect_uri):
    from django.urls import path

    def urls():
        from allauth.socialaccount.providers.apple.client import AppleOAuth2Client
        from allauth.socialaccount.providers.apple.views import AppleOAuth2Adapter
        from dj_rest_auth.registration.views import SocialLoginView

        class AppleLogin(SocialLoginView):
            adapter_class = AppleOAuth2Adapter
            client_class = AppleOAuth2Client
            callback_url = redirect_uri

        return [path("apple", AppleLogin.as_view())]

    app = {
        "client_id": f"{apple.services_id},{apple.client_id}", "key": apple.team_id, "secret": apple.key_id,
        "settings": {"certificate_key": apple.private_key},
    }
    browser = django(
        urls,
        [
            "django.contrib.messages", "rest_framework", "rest_framework.authtoken", "dj_rest_auth", "allauth",
            "allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.apple",
        ],
        more_middleware=["allauth.account.middleware.AccountMiddleware"],
        SOCIALACCOUNT_PROVIDERS={"apple": {"APPS": [app]}},
    )
    ada = apple.people.new("Ada")
    # The code of the web, and the token of the iPhone app, for which the view wants an access token beside it.
    code = ada.sign_in(client_id=apple.services_id, redirect_uri=redirect_uri).code
    token = ada.sign_in().identity_token
    for body in ({"code": code}, {"access_token": "unused", "id_token": token}):
        answer = browser.post("/apple", body, content_type="application/json")
        assert answer.status_code == 200 and answer.json()["key"], answer.content
    return "signs in by a code, and by the app's token"


@client("fastapi-sso")
def fastapi_sso(apple, redirect_uri):
    from fastapi import FastAPI, Request
    from fastapi.testclient import TestClient
    from fastapi_sso.sso.apple import AppleSSO

    app = FastAPI()
    sso = AppleSSO(apple.services_id, apple.client_secret(apple.services_id), redirect_uri)

    @app.get("/login")
    async def login():
        async with sso:
            return await sso.get_login_redirect()

    @app.post("/callback")
    async def callback(request: Request):
        # The library reads the query, and Apple posts a form.
        form = await request.form()
        request.scope["query_string"] = urllib.parse.urlencode(form).encode()
        del request._query_params
        async with sso:
            return await sso.verify_and_process(request)

    browser = TestClient(app, base_url=SITE, follow_redirects=False)
    ada = apple.people.new("Ada")
    form = ada.sign_in_on_web(browser.get("/login").headers["Location"]).form
    answer = browser.post("/callback", data=form)
    assert answer.status_code == 200 and answer.json()["id"] == ada.sub, answer.text
    return "signs in on the web, if the application puts Apple's form into the query"


@client("httpx-oauth")
def httpx_oauth(apple, redirect_uri):
    from httpx_oauth.clients.openid import OpenID
    from httpx_oauth.oauth2 import RefreshTokenError

    async def run():
        secret = apple.client_secret(apple.services_id)
        oauth = OpenID(apple.services_id, secret, f"{apple.issuer}/.well-known/openid-configuration")
        url = await oauth.get_authorization_url(redirect_uri, extras_params={"response_mode": "form_post"})
        code = apple.people.new().sign_in_on_web(url).form["code"]
        tokens = await oauth.get_access_token(code, redirect_uri)
        oauth.refresh_token_endpoint = oauth.access_token_endpoint
        assert (await oauth.refresh_token(tokens["refresh_token"]))["access_token"]
        await oauth.revoke_token(tokens["refresh_token"], "refresh_token")
        try:
            await oauth.refresh_token(tokens["refresh_token"])
        except RefreshTokenError:
            return "finds Apple by discovery, exchanges, refreshes and revokes"
        raise AssertionError("a revoked token was accepted")

    return asyncio.run(run())


@client("requests-oauthlib")
def requests_oauthlib(apple, redirect_uri):
    from requests_oauthlib import OAuth2Session

    session = OAuth2Session(apple.services_id, redirect_uri=redirect_uri, scope=["name", "email"])
    url, state = session.authorization_url(f"{apple.issuer}/auth/authorize", response_mode="form_post")
    form = apple.people.new().sign_in_on_web(url).form
    assert form["state"] == state
    os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"
    secret = apple.client_secret(apple.services_id)
    token_url = f"{apple.issuer}/auth/token"
    tokens = session.fetch_token(token_url, code=form["code"], client_secret=secret, include_client_id=True)
    more = {"client_id": apple.services_id, "client_secret": secret}
    assert session.refresh_token(token_url, tokens["refresh_token"], **more)["access_token"]
    return "exchanges and refreshes"


@client("PyJWT")
def pyjwt(apple, redirect_uri):
    import jwt

    # Without the setting it fetches new keys 30 seconds after the last fetch only.
    keys = jwt.PyJWKClient(f"{apple.issuer}/auth/keys", cooldown_duration=0)

    def verify(token):
        key = keys.get_signing_key_from_jwt(token)
        return jwt.decode(token, key, ["RS256"], audience=apple.client_id, issuer=apple.issuer)

    ada = apple.people.new()
    assert verify(ada.sign_in().identity_token)["sub"] == ada.sub
    for forgery in ({"signature": "tampered"}, {"time_offset": -172_800}, {"claims": {"aud": "com.other.app"}}):
        try:
            verify(ada.sign_in(forgery=forgery).identity_token)
        except jwt.PyJWTError:
            continue
        raise AssertionError(f"accepted: {forgery}")
    apple.keys.rotate()
    assert verify(ada.sign_in().identity_token)["sub"] == ada.sub
    return "verifies tokens, refuses forged ones, and with cooldown_duration=0 finds new keys at once"


@client("flask-login-apple")
def flask_login_apple(apple, redirect_uri):
    from flask import Flask
    from flask_login_apple import AppleLogin

    app = Flask(__name__)
    app.config.update(
        APPLE_CLIENT_ID=apple.services_id, APPLE_TEAM_ID=apple.team_id, APPLE_KEY_ID=apple.key_id,
        APPLE_PRIVATE_KEY_FILE=apple.private_key_file,
    )
    AppleLogin(app)
    browser = app.test_client()
    form = apple.people.new().sign_in_on_web(browser.get("/login", base_url=SITE).location).form
    assert browser.post("/callback", base_url=SITE, data=form).status_code == 405
    return "cannot work: it asks Apple to post the form, and its route accepts GET only"


@client("siwa")
def siwa(apple, redirect_uri):
    from siwa import IdentityToken, KeyCache

    token = IdentityToken.parse(apple.people.new().sign_in().identity_token)
    assert token.is_validly_signed(apple.client_id, KeyCache())
    forged = IdentityToken.parse(apple.people.default.sign_in(forgery={"signature": "tampered"}).identity_token)
    assert not forged.is_validly_signed(apple.client_id)
    return "verifies a token, and refuses a forged one"


@client("asok-auth-providers")
def asok_auth_providers(apple, redirect_uri):
    from asok_auth_providers.providers import callback_for

    ada = apple.people.new()
    code = ada.sign_in(client_id=apple.services_id, redirect_uri=redirect_uri).code
    secret = apple.client_secret(apple.services_id)
    user = callback_for("apple", apple.services_id, secret, code, redirect_uri, "s-1", "s-1")
    assert user["provider_id"] == ada.sub
    return "exchanges, without a check of the token's signature"


@client("appleauth")
def appleauth(apple, redirect_uri):
    django(
        list, ["rest_framework"],
        APPLE_CONFIG={
            "APPLE_CLIENT_ID": apple.client_id, "APPLE_TEAM_ID": apple.team_id, "APPLE_KEY_ID": apple.key_id,
            "APPLE_PRIVATE_KEY": apple.private_key,
        },
    )
    from appleauth.services import AppleAuth

    code = apple.people.new().sign_in().code
    try:
        AppleAuth(code=code).do_auth()
    except AttributeError as error:
        return f"cannot work with the PyJWT that it asks for: {error}"
    raise AssertionError("it works now")


@client("bear-django-oauth-utils")
def bear_django_oauth_utils(apple, redirect_uri):
    django(
        list, ["rest_framework"], APPLE_CLIENT_ID=apple.client_id, APPLE_TEAM_ID=apple.team_id,
        APPLE_KEY_ID=apple.key_id, APPLE_PRIVATE_KEY=apple.private_key,
    )
    from oauth_utils.utils import OAuthUtils
    from rest_framework.exceptions import ValidationError

    try:
        OAuthUtils.user_from_token(apple.people.new().sign_in().identity_token, "apple")
    except ValidationError:
        return "refuses every token, because its algorithm is misspelled (RS26)"
    raise AssertionError("it works now")


@client("openid_connect")
def openid_connect(apple, redirect_uri):
    """Ruby, in a process of its own: a hosts file leads Apple's names here, and this relay leads them to the fake."""
    relay = socket.create_server(("127.0.0.1", 443))
    threading.Thread(target=serve, args=(relay, apple.port), daemon=True).start()
    given = {
        "issuer": apple.issuer, "client_id": apple.services_id, "secret": apple.client_secret(apple.services_id),
        "redirect_uri": redirect_uri,
    }
    command = ["ruby", str(pathlib.Path(__file__).with_name("openid_connect_client.rb")), json.dumps(given)]
    environment = {**os.environ, **apple.environment()}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as ruby:
        ada = apple.people.new("Ada")
        form = ada.sign_in_on_web(ruby.stdout.readline().strip()).form
        said, _ = ruby.communicate(json.dumps(form) + "\n", timeout=60)
    assert ruby.returncode == 0 and said.strip() == ada.sub, said
    return "finds Apple by discovery, exchanges, and compares the nonce"


def serve(relay, port):
    while True:
        near, _ = relay.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=copy, args=(source, target), daemon=True).start()


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        target.close()


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return subprocess.run(
            ["dpkg-query", "-W", "-f", "${source:Upstream-Version}", f"ruby-{name.replace('_', '-')}"],
            stdout=subprocess.PIPE, text=True,
        ).stdout


if len(sys.argv) == 2:
    redirect_uri, run = clients[sys.argv[1]]
    # Apple permits one validation of a refresh token a day, and a client that is tried refreshes at once.
    with FakeApple(redirect_uris=[redirect_uri], refresh_interval=0) as apple, apple.in_place_of_apple():
        print(f"{sys.argv[1]} {version(sys.argv[1])}: {run(apple, redirect_uri)}")
elif __name__ == "__main__":
    # Each gets a minute, so that one that waits cannot stop the others.
    failed = [
        name for name in clients if subprocess.run([sys.executable, __file__, name], timeout=60).returncode != 0
    ]
    if failed:
        sys.exit(f"error: these clients failed, see above: {', '.join(failed)}")
