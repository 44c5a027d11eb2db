"""PyJWT and requests poll for security event tokens: as a configured receiver, and as an OAuth client.

The argument is a JSON object: `service`, `api_key`, `client` with `id` and `secret`, and `identity_token` of a user of
Apple with its `nonce`.
"""

import json
import sys

import jwt
import requests

given = json.loads(sys.argv[1])
service, client = given["service"], (given["client"]["id"], given["client"]["secret"])
backend = requests.Session()
backend.headers["Authorization"] = f"Bearer {given['api_key']}"
configuration = requests.get(f"{service}/.well-known/ssf-configuration").json()
assert configuration["spec_version"] == "1_0", configuration
assert configuration["delivery_methods_supported"] == ["urn:ietf:rfc:8935", "urn:ietf:rfc:8936"], configuration
keys = jwt.PyJWKClient(configuration["jwks_uri"])


def verified(token, audience):
    decoded = jwt.decode_complete(
        token, keys.get_signing_key_from_jwt(token).key, algorithms=["ES256"], audience=audience,
        issuer=configuration["issuer"], options={"require": ["iss", "aud", "iat", "jti"]},
    )
    assert decoded["header"]["typ"] == "secevent+jwt", decoded["header"]
    assert "exp" not in decoded["payload"] and "sub" not in decoded["payload"], decoded
    return decoded["payload"]


def drain(post, audience):
    """Polls and acknowledges until nothing is left, and returns the claims in their order."""
    claims, ack = [], []
    while True:
        response = post({"ack": ack, "returnImmediately": True, "maxEvents": 5})
        assert response.status_code == 200, response.text
        sets = response.json()["sets"]
        if not sets:
            return claims
        found = {jti: verified(token, audience) for jti, token in sets.items()}
        assert all(claim["jti"] == jti for jti, claim in found.items()), found
        claims += found.values()
        ack = list(sets)


def types(claims):
    return [event.rsplit("/", 1)[-1] for claim in claims for event in claim["events"]]


def receive(body):
    return backend.post(f"{service}/v1/event-receivers/billing/poll", json=body)


streams = requests.get(configuration["configuration_endpoint"], auth=client).json()
assert [stream["aud"] for stream in streams] == [client[0]], streams
stream = streams[0]


def listen(body):
    return requests.post(stream["delivery"]["endpoint_url"], json=body, auth=client)


# Empty streams, and a verification.
assert drain(receive, "billing") == [] and drain(listen, client[0]) == []
asked = {"stream_id": stream["stream_id"], "state": "VGhpcyBpcyBhIHRlc3Q"}
assert requests.post(configuration["verification_endpoint"], json=asked, auth=client).status_code == 204
assert requests.post(configuration["verification_endpoint"], json=asked, auth=client).status_code == 429
(verification,) = drain(listen, client[0])
kind = "https://schemas.openid.net/secevent/ssf/event-type/verification"
assert verification["events"][kind] == {"state": asked["state"]}, verification
assert verification["sub_id"] == {"format": "opaque", "id": stream["stream_id"]}, verification

# A user signs in with the client, and is erased.
tokens = requests.post(f"{service}/oauth/token", auth=client, data={
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": given["identity_token"],
    "subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "nonce": given["nonce"],
}).json()
assert "id_token" in tokens, tokens
user = jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"]
assert drain(listen, client[0]) == []
made = drain(receive, "billing")
assert types(made)[0].endswith("account-created"), types(made)
assert backend.delete(f"{service}/v1/accounts/{user}").status_code in (200, 202)
told = drain(listen, client[0])
assert types(told) == ["tokens-revoked", "account-purged"], told
for claim in told:
    assert claim["sub_id"] == {"format": "iss_sub", "iss": configuration["issuer"], "sub": user}, claim
    assert [list(event) for event in claim["events"].values()] == [["event_timestamp"]], claim
assert types(drain(receive, "billing"))[-1] == "account-purged"
print("done")
