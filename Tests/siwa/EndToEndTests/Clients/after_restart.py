"""What `before_restart.py` got is still good, and ends when Apple says so."""

from relying import discovery, expect, given, introspect, is_refused, metadata

import json
import time

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
# Google has its link, and hears of its end.
link = requests.get(f"{given['google']}/control/links").json()["links"][-1]
expect(link["status"] == "linked", f"{link}")
refreshed = requests.post(f"{given['google']}/control/refresh", json={}).json()
expect(refreshed["status"] == 200, f"{refreshed}")
told = requests.post(f"{given['apple']}/emulator/users/{tokens['apple_subject']}/revoke-consent?format=text")
expect(told.text.strip() == "200", f"the notification: {told.text}")
expect(introspect(tokens["access_token"]) == {"active": False}, "inactive at once")
is_refused(refresh(tokens["refresh_token"]))
end = time.monotonic() + 30
while requests.get(f"{given['google']}/control/links").json()["links"][-1]["status"] != "unlinked_by_service":
    expect(time.monotonic() < end, "Google has the event")
    time.sleep(0.1)
print("done")
