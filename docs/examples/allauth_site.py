"""A Django site that signs users in with Apple by django-allauth: on the web, and from the iPhone app."""

import json

import django
from django.conf import settings
from django.core.management import call_command
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

settings.configure(
    SECRET_KEY="replace me",
    ALLOWED_HOSTS=["site.example.com"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages",
        "allauth", "allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.apple",
        "allauth.headless",
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
    SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
    LOGIN_REDIRECT_URL="/me",
    SOCIALACCOUNT_LOGIN_ON_GET=True,
    SOCIALACCOUNT_QUERY_EMAIL=True,
    SOCIALACCOUNT_STORE_TOKENS=True,
    USE_TZ=True,
)
django.setup()
call_command("migrate", verbosity=0)

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.socialaccount.providers.apple.views import AppleOAuth2Adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.contrib.sessions.models import Session


def me(request):
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    return JsonResponse({"email": request.user.email, "first_name": request.user.first_name})


@csrf_exempt
@require_POST
def apple_notifications(request):
    """django-allauth has no receiver for Apple's notifications. It has the code that verifies Apple's tokens."""
    try:
        provider = get_adapter().get_provider(request, "apple")
        payload = json.loads(request.body)["payload"]
        claims = AppleOAuth2Adapter.get_verified_identity_data(provider, payload)
        event = json.loads(claims["events"])
    except (ValueError, KeyError, TypeError, OAuth2Error):
        return HttpResponseBadRequest()
    account = SocialAccount.objects.filter(provider="apple", uid=event["sub"]).first()
    if account and event["type"] in ("consent-revoked", "account-deleted"):
        SocialToken.objects.filter(account=account).delete()
        for session in Session.objects.all():
            if session.get_decoded().get("_auth_user_id") == str(account.user_id):
                session.delete()
    return HttpResponse()


urlpatterns = [
    path("accounts/", include("allauth.urls")),
    path("_allauth/", include("allauth.headless.urls")),
    path("me", me),
    path("apple/notifications", apple_notifications),
]
