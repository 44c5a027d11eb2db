"""Gets tokens as a native app, and keeps them in a file for `after_restart.py`. Google links the same account."""

from relying import User, expect, given, metadata

import json

import requests
from requests_oauthlib import OAuth2Session

user, redirect_uri = User(), "http://127.0.0.1:9004"
session = OAuth2Session(
    given["clients"]["native"]["id"], redirect_uri=redirect_uri, scope=["openid", "email"], pkce="S256"
)
url, _ = session.authorization_url(metadata["authorization_endpoint"])
answer = user.authorize(url, redirect_uri)
tokens = session.fetch_token(metadata["token_endpoint"], authorization_response=answer, include_client_id=True)
with open(given["file"], "w", encoding="ascii") as file:
    json.dump({**tokens, "apple_subject": user.subject}, file)
begun = requests.post(f"{given['google']}/control/link", json={}).json()
arrived = user.browser.get(user.authorize(begun["url"], begun["redirect_uri"]), allow_redirects=False)
expect(arrived.status_code == 303, f"Google's page: {arrived.status_code} {arrived.text}")
print("done")
