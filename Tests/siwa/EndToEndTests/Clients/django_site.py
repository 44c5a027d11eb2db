"""A Django site without a port: the drivers of Django's libraries call its pages directly."""

import django
from django.conf import settings
from django.core.management import call_command
from django.test import Client

HOST = "localhost:9000"


def start(urls, apps=(), middleware=(), **more):
    settings.configure(
        SECRET_KEY="for this test only",
        ALLOWED_HOSTS=["localhost"],
        ROOT_URLCONF=urls,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        INSTALLED_APPS=[
            "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages",
            *apps,
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            *middleware,
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
            }
        ],
        LOGIN_REDIRECT_URL="/in/",
        USE_TZ=True,
        **more,
    )
    django.setup()
    call_command("migrate", verbosity=0)


def browser(host=HOST):
    return Client(HTTP_HOST=host)
