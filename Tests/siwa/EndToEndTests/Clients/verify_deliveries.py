"""Verifies what the service has delivered: webhooks with the standardwebhooks package, and security event tokens with
PyJWT, jwcrypto and jose, with keys fetched from the service. Attacks are refused."""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

import jwt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwcrypto import jwk, jws
from standardwebhooks import Webhook, WebhookVerificationError

given = json.loads(sys.argv[1])
root = pathlib.Path(given["root"])
sys.path += [str(root / "docs/receivers"), str(root / "clients/python")]
import security_events
from siwa_client import SiwaClient, SiwaError


def expect(truth, what):
    if not truth:
        sys.exit(f"failed: {what}")


def event_of(secret, headers, body):
    """The event of a webhook, verified by our package."""
    client = SiwaClient("http://127.0.0.1", "unused", webhook_secrets=secret)
    return client.verify_webhook(headers, body.encode())


def refuses(error, call):
    try:
        call()
    except error as refusal:
        return str(refusal)
    sys.exit("failed: an attack was accepted")


deliveries = [json.loads(line) for line in pathlib.Path(given["deliveries"]).read_text().splitlines()]
for delivery in deliveries:
    delivery["headers"] = dict(delivery["headers"])
posted = [delivery for delivery in deliveries if delivery["path"] == "/webhook"]
pushed = [delivery for delivery in deliveries if delivery["path"] == "/push"]
expect(posted and pushed, "there are deliveries of both kinds")

# Webhooks: a receiver that has either secret takes them, and nobody else.
events = {}
for delivery in posted:
    headers, body = delivery["headers"], delivery["body"]
    expect(headers["content-type"] == "application/json", headers)
    expect(len(headers["webhook-signature"].split(" ")) == 2, "two signatures during the rotation")
    for secret in given["secrets"]:
        event = Webhook(secret).verify(body, headers)
        expect(event["id"] == headers["webhook-id"], event)
        expect(event_of(secret, headers, body).id == event["id"], "our own verifier")
    events[event["id"]] = event
    secret = given["secrets"][0]
    stranger = "whsec_" + base64.b64encode(bytes(32)).decode()
    for changed, key in [
        (headers, stranger),
        ({**headers, "webhook-id": headers["webhook-id"] + "0"}, secret),
        ({**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 1)}, secret),
        ({**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 400)}, secret),
    ]:
        refuses(WebhookVerificationError, lambda: Webhook(key).verify(body, changed))
        refuses(SiwaError, lambda: event_of(key, changed, body))
    refuses(WebhookVerificationError, lambda: Webhook(secret).verify(body + " ", headers))

# Security event tokens.
with urllib.request.urlopen(given["keys_url"], timeout=10) as response:
    key_set = jwk.JWKSet.from_json(response.read().decode())
receiver = security_events.SecurityEvents(given["issuer"], given["audience"], given["keys_url"])
formats = set()
for delivery in pushed:
    expect(delivery["headers"]["content-type"] == "application/secevent+jwt", delivery["headers"])
    token = delivery["body"]
    claims = receiver.verify(token)
    header = jwt.get_unverified_header(token)
    expect(header["alg"] == "ES256" and header["typ"] == "secevent+jwt", header)
    # A second library reads the same.
    read = jws.JWS()
    read.deserialize(token)
    read.verify(key_set.get_key(header["kid"]), alg="ES256")
    expect(json.loads(read.payload) == claims, "both libraries read the same")
    expect(claims["iss"] == given["issuer"] and claims["aud"] == given["audience"], claims)
    expect("exp" not in claims and "sub" not in claims, "RFC 8417, section 2.2: neither exp nor sub")
    ((uri, content),) = claims["events"].items()
    event = content["siwa_event"]
    # An erasure between the two deliveries removes the name of the user from the later one.
    expect({**event, "sub": ""} == {**events[claims["jti"]], "sub": ""}, "a token says the same as the webhook")
    expect(uri == given["types"][event["type"]], f"{event['type']} has the type {uri}")
    subject = claims["sub_id"]
    formats.add(subject["format"])
    if event.get("account_id"):
        expect(subject == {"format": "opaque", "id": event["account_id"]}, subject)
    else:
        expect(subject == {"format": "iss_sub", "iss": "https://appleid.apple.com", "sub": event["sub"]}, subject)
expect({jwt.decode(one["body"], options={"verify_signature": False})["jti"] for one in pushed} == set(events),
       "a token for each event")
expect(formats == {"opaque", "iss_sub"}, formats)
kinds = {event["type"] for event in events.values()}
expect(set(given["kinds"]) <= kinds, f"{set(given['kinds']) - kinds} did not arrive")


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def keyed_with(text):
    """The claims with a code of HS256 that has the public key for a secret. No library signs this."""
    signed = f"{encoded({**head, 'alg': 'HS256'})}.{payload}"
    code = hmac.new(text, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(code).rstrip(b'=').decode()}"


token = pushed[0]["body"]
header, payload, signature = token.split(".")
head, claims = jwt.get_unverified_header(token), receiver.verify(token)
public = next(key for key in json.loads(key_set.export(private_keys=False))["keys"] if key["kid"] == head["kid"])
pem = jwt.PyJWK(public).key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
other_types = [f"{encoded({**head, 'typ': name})}.{payload}.{signature}" for name in ("JWT", "at+jwt")]
forgeries = [
    ("", "invalid_request"), ("a.b.c", "invalid_request"), (token + "x" * 70_000, "invalid_request"),
    (other_types[0], "invalid_request"), (other_types[1], "invalid_request"),
    (f"{header}.{encoded({**claims, 'jti': 'evt_other'})}.{signature}", "invalid_key"),
    (f"{encoded({**head, 'kid': 'invented'})}.{payload}.{signature}", "invalid_key"),
    (f"{encoded({**head, 'alg': 'none'})}.{payload}.", "invalid_key"),
    (jwt.encode(claims, "k" * 32, "HS256", {"typ": head["typ"], "kid": head["kid"]}), "invalid_key"),
    (keyed_with(pem), "invalid_key"),
    (f"{header}.{payload}.{signature[:-4]}AAAA", "invalid_key"),
]
for forged, code in forgeries:
    found = refuses(security_events.Refused, lambda: receiver.verify(forged))
    expect(found == code, f"{forged[:60]}: {found} and not {code}")
for issuer, audience, code in [
    (given["issuer"] + "/", given["audience"], "invalid_issuer"), (given["issuer"], "other", "invalid_audience"),
]:
    other = security_events.SecurityEvents(issuer, audience, given["keys_url"])
    expect(refuses(security_events.Refused, lambda: other.verify(token)) == code, code)
closed = security_events.SecurityEvents(given["issuer"], given["audience"], "http://127.0.0.1:1/jwks.json")
refuses(security_events.Unavailable, lambda: closed.verify(token))

# The same with the verifiers in other languages.
good = {name: given[name] for name in ("issuer", "audience", "keys_url")}
tokens = [{"token": one["body"], **good} for one in pushed]
tokens += [{"token": forged, **good} for forged, _ in forgeries]
tokens += [
    {**good, "token": token, "issuer": given["issuer"] + "/"}, {**good, "token": token, "audience": "other"},
    {**good, "token": token, "keys_url": "http://127.0.0.1:1/jwks.json"},
]
pathlib.Path("tokens.json").write_text(json.dumps(tokens))
jtis = [jwt.decode(one["body"], options={"verify_signature": False})["jti"] for one in pushed]


def compare(suffix, command, codes, environment=None):
    """Runs a verifier, in a folder of its own, with these codes for the forgeries."""
    place = pathlib.Path(f"{suffix}-verifier")
    place.mkdir(exist_ok=True)
    for name, folder in [("security_events", "docs/receivers"), ("verify_tokens", "Tests/siwa/EndToEndTests/Clients")]:
        shutil.copy(root / folder / f"{name}.{suffix}", place)
    run = subprocess.run(
        [*command, "../tokens.json"], cwd=place, capture_output=True, text=True,
        env={**os.environ, **(environment or {})})
    expect(run.returncode == 0, run.stderr)
    expected = jtis + codes + ["invalid_issuer", "invalid_audience", "unavailable"]
    found = run.stdout.split()
    expect(found == expected, [pair for pair in zip(found, expected) if pair[0] != pair[1]] or found)


pathlib.Path("go-verifier").mkdir()
pathlib.Path("go-verifier/go.mod").write_text("module example.com/receiver\n\ngo 1.19\n")
compare("go", ["go", "run", "."], [code for _, code in forgeries],
        {"GOPROXY": "off", "GOFLAGS": "-buildvcs=false", "GOCACHE": str(root / ".build/go-cache")})

# The package is that of the system, which has no node_modules around it.
package = pathlib.Path("/usr/share/nodejs/jose")
if sys.platform == "linux":
    expect(package.is_dir(), "there is no jose for Node; install node-jose")
if package.is_dir():
    pathlib.Path("node_modules").mkdir()
    pathlib.Path("node_modules/jose").symlink_to(package)
    # jose verifies the signature before it reads typ.
    compare("mjs", ["node", "verify_tokens.mjs"],
            ["invalid_key" if forged in other_types else code for forged, code in forgeries])
print("done")
