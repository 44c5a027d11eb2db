"""django-allauth's own provider for Apple, in a site of its own: authorize, exchange, refresh, revoke."""

import urllib.parse

from fake_apple import ISSUER, User, expect, finish, given, private_key

import django
from django.conf import settings
from django.core.management import call_command
from django.urls import include, path

site = urllib.parse.urlsplit(given["redirect_uri"])
settings.configure(
    SECRET_KEY="for this test only",
    ALLOWED_HOSTS=[site.hostname],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
        "allauth",
        "allauth.account",
        "allauth.socialaccount",
        "allauth.socialaccount.providers.apple",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "allauth.account.middleware.AccountMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
        }
    ],
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    LOGIN_REDIRECT_URL="/in/",
    SOCIALACCOUNT_LOGIN_ON_GET=True,
    SOCIALACCOUNT_STORE_TOKENS=True,
    SOCIALACCOUNT_QUERY_EMAIL=True,
    SOCIALACCOUNT_PROVIDERS={
        "apple": {
            "APPS": [
                {
                    "client_id": given["client_id"],
                    "secret": given["key_id"],
                    "key": given["team"],
                    "settings": {"certificate_key": private_key()},
                }
            ]
        }
    },
    USE_TZ=True,
)
django.setup()
urlpatterns = [path("accounts/", include("allauth.urls"))]
call_command("migrate", verbosity=0)

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialToken
from allauth.socialaccount.providers.apple.client import AppleOAuth2Client
from allauth.socialaccount.providers.apple.views import AppleOAuth2Adapter
from django.test import Client, RequestFactory

browser = Client(HTTP_HOST=site.netloc)
departure = browser.get("/accounts/apple/login/")
expect(departure.status_code == 302, departure.status_code)
address, form = User().sign_in(departure["Location"])
expect(address == given["redirect_uri"], address)

# From another site, so without the site's session.
callback = Client(HTTP_HOST=site.netloc).post(site.path, form)
expect(callback.status_code == 302, callback.content)
browser.cookies.update(callback.cookies)
arrival = browser.get(callback["Location"])
expect(arrival.status_code == 302 and arrival["Location"] == "/in/", f"{arrival.status_code} {arrival.content}")

token = SocialToken.objects.get()
expect(token.account.uid == token.account.extra_data["sub"], "the user ID")
expect(token.account.user.first_name, "the name")
expect(token.token and token.token_secret, "both tokens")

# allauth has no call for what comes now; an application makes it with the provider's client and session.
request = RequestFactory(HTTP_HOST=site.netloc).get("/")
adapter = AppleOAuth2Adapter(request)
client = AppleOAuth2Client(
    request, given["client_id"], given["key_id"], adapter.access_token_method, adapter.access_token_url, None
)


def post(url, **fields):
    fields.update(client_id=client.get_client_id(), client_secret=client.generate_client_secret())
    with get_adapter().get_requests_session() as session:
        return session.post(url, data=fields)


def refresh():
    return post(adapter.access_token_url, grant_type="refresh_token", refresh_token=token.token_secret)


refreshed = refresh().json()
expect(refreshed["access_token"] != token.token, "a new access token")
claims = adapter.get_verified_identity_data(token.account.get_provider(request), refreshed["id_token"])
expect(claims["sub"] == token.account.uid, "the same user")

expect(post(f"{ISSUER}/auth/revoke", token=token.token_secret).status_code == 200, "revocation")
expect(refresh().json()["error"] == "invalid_grant", "a revoked token is refused")
finish()
