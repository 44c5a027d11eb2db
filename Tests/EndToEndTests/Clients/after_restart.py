"""What `before_restart.py` got is still good, and ends when Apple says so."""

from relying import discovery, expect, given, introspect, is_refused, metadata

import json

import jwt
import requests

with open(given["file"], encoding="ascii") as file:
    tokens = json.load(file)
client = given["clients"]["native"]["id"]


def refresh(token):
    return requests.post(
        metadata["token_endpoint"],
        data={"grant_type": "refresh_token", "refresh_token": token, "client_id": client},
    )


expect(introspect(tokens["access_token"])["active"] is True, "the access token is good after the restart")
# The keys that signed before the restart are still published.
key = jwt.PyJWKClient(discovery["jwks_uri"]).get_signing_key_from_jwt(tokens["id_token"])
jwt.decode(tokens["id_token"], key.key, algorithms=["RS256"], audience=client)
answer = refresh(tokens["refresh_token"])
expect(answer.status_code == 200, f"{answer.status_code} {answer.text}")
tokens |= answer.json()
told = requests.post(f"{given['apple']}/emulator/users/{tokens['apple_subject']}/revoke-consent?format=text")
expect(told.text.strip() == "200", f"the notification: {told.text}")
expect(introspect(tokens["access_token"]) == {"active": False}, "inactive at once")
is_refused(refresh(tokens["refresh_token"]))
print("done")
