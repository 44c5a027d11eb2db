#!/usr/bin/env python3
"""Makes every fixture again: `make.py` writes them, `make.py --check` compares them with what is committed.

Needs Python 3.9 or later and the openssl command, nothing else.
"""

import json
import pathlib
import shutil
import sys
import tempfile

import account_scenarios  # noqa: F401  (importing these modules collects their cases)
import client_events  # noqa: F401
import client_faults  # noqa: F401
import client_tokens  # noqa: F401
import identity_accepted  # noqa: F401
import identity_claims  # noqa: F401
import identity_reading
import identity_signatures  # noqa: F401
import key_scenarios  # noqa: F401
import notifications  # noqa: F401
import oauth_app_flip  # noqa: F401
import oauth_app_flip_prompt  # noqa: F401
import oauth_authorization  # noqa: F401
import oauth_endpoints  # noqa: F401
import oauth_planted
import oauth_reference
import oauth_tokens  # noqa: F401
import reference
import security_event_reference
import webhook_reference
from cases import IDENTITY_TOKENS, KIDS, NOTIFICATIONS, seconds
from client_cases import (
    CLIENT_CALLS, CLIENT_EVENTS, CLIENT_KEYS, CLIENT_RETRIES, CLIENT_TOKENS, CLIENT_TRANSPORT, CLIENT_WEBHOOKS)
from google_events import GOOGLE_EVENTS
from jws import base64url_decode
from key_sets import KEY_SETS
from keys import ec_verifies, openssl_verifies, rsa_is_valid
from oauth_cases import (
    APP_FLIP, APP_FLIP_PROMPT, AUTHORIZATION, INTROSPECTION, METADATA, OAUTH_CONFIGURATION, REVOCATION, TOKEN,
    USERINFO)
from rsa_signatures import SIGNATURES
from security_events import RECEIVED, SENT
from steps import SCENARIOS
from webhooks import WEBHOOKS

FIXTURES = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = {
    "identity-tokens": IDENTITY_TOKENS, "notifications": NOTIFICATIONS, "scenarios": SCENARIOS,
    "rsa-signatures": SIGNATURES, "webhooks": WEBHOOKS,
    "security-events-sent": SENT, "security-events-received": RECEIVED,
    "security-events-google": GOOGLE_EVENTS, "oauth/configuration": OAUTH_CONFIGURATION,
    "oauth/authorization": AUTHORIZATION, "oauth/token": TOKEN, "oauth/app-flip": APP_FLIP,
    "oauth/app-flip-prompt": APP_FLIP_PROMPT,
    "oauth/revocation": REVOCATION, "oauth/introspection": INTROSPECTION, "oauth/userinfo": USERINFO,
    "oauth/metadata": METADATA, "clients/calls": CLIENT_CALLS,
    "clients/retries": CLIENT_RETRIES, "clients/transport": CLIENT_TRANSPORT,
    "clients/webhooks": CLIENT_WEBHOOKS, "clients/events": CLIENT_EVENTS,
    "clients/tokens": CLIENT_TOKENS, "clients/key-sets": CLIENT_KEYS,
}


def document(value):
    # ASCII only, so that no editor normalizes what must differ in its bytes.
    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


def write(root):
    for folder, documents in {"key-sets": KEY_SETS, **FOLDERS}.items():
        shutil.rmtree(root / folder, ignore_errors=True)
        (root / folder).mkdir(parents=True)
        for name, value in documents.items():
            value = {"keys": value} if folder == "key-sets" else value
            (root / folder / f"{name.removesuffix('.json')}.json").write_text(document(value), encoding="ascii")


def second_opinion():
    """Every case judged again by the reference reader, every accepted signature by openssl."""
    mistakes = []
    cases = [*IDENTITY_TOKENS.items(), *NOTIFICATIONS.items()]
    signers = {"fxRSA3072": "rsa-3072", "fxRSA4096": "rsa-4096", **{kid: key for key, kid in KIDS.items()}}
    for name, case in cases:
        code, events = reference.judge(case, KEY_SETS[case["key_set"]], seconds(case["at"]))
        if code != case.get("code"):
            mistakes.append(f"{name}: the recipe says {case.get('code')}, the reference reader {code}")
        if code is None and "notification" in case and events != case["notification"]["events"]:
            mistakes.append(f"{name}: events are read as {events}")
        if code is None:
            text, _, signature = case["token"].rpartition(".")
            head = json.loads(base64url_decode(text.partition(".")[0]))
            if not openssl_verifies(signers.get(head["kid"], "signer-1"), text, base64url_decode(signature)):
                mistakes.append(f"{name}: openssl refuses the signature")
    for name, document in SIGNATURES.items():
        n, e = (int(document["key"][member], 16) for member in ("n", "e"))
        for case in document["cases"]:
            message, signature = (bytes.fromhex(case[member]) for member in ("message", "signature"))
            # A key with another exponent is refused, also when its signature is right.
            is_valid = e == 65537 and rsa_is_valid(message, signature, n, e)
            if is_valid != (case["verdict"] == "accepted"):
                mistakes.append(f"{name}, {case['name']}: the reference reader says {is_valid}")
    if not ec_verifies(identity_reading.ES256_TEXT, base64url_decode(identity_reading.ES256_SIGNATURE)):
        mistakes.append("alg-es256: the frozen signature no longer fits; sign it again")
    for name, case in WEBHOOKS.items():
        verdict = webhook_reference.judge(case)
        if verdict != (case["verdict"], case.get("code")):
            mistakes.append(f"{name}: the reference reader says {verdict}")
    for name, case in RECEIVED.items():
        opinion = security_event_reference.judge(case, KEY_SETS[case["key_set"]])
        if opinion != (case.get("code"), case.get("read")):
            mistakes.append(f"{name}: the reference reader says {opinion}")
    for name, case in GOOGLE_EVENTS.items():
        opinion = security_event_reference.judge_google(case, KEY_SETS[case["key_set"]])
        if opinion != (case.get("code"), case.get("read")):
            mistakes.append(f"{name}: the reference reader says {opinion}")
    for name, document in CLIENT_TOKENS.items():
        step = document["steps"][0]
        text, _, signature = str(step["arguments"]["bearer"]).removeprefix("Bearer ").removeprefix("bearer ").rpartition(".")
        if "error" not in step or step["error"]["code"] == "signature_invalid":
            head, signature = json.loads(base64url_decode(text.partition(".")[0])), base64url_decode(signature)
            is_valid = (ec_verifies(text, signature) if head["alg"] == "ES256" else
                        openssl_verifies("signer-1", text, signature))
            # Another length than 64 bytes is no signature of JWS, whatever openssl says.
            if (is_valid and (head["alg"] != "ES256" or len(signature) == 64)) == ("error" in step):
                mistakes.append(f"{name}: openssl says {is_valid}")
    for name, document in CLIENT_WEBHOOKS.items():
        step = document["steps"][0]
        headers = {field.lower(): value for field, value in step["arguments"]["headers"].items()}
        code = step.get("error", {}).get("code")
        opinion = webhook_reference.judge({**step["arguments"], "headers": headers, "at": document["at"]})[1]
        # The reference reader judges signatures, and not what they sign.
        if opinion != (None if code == "event_malformed" else code):
            mistakes.append(f"{name}: the reference reader says {opinion}")
    oauth = {
        "configuration": OAUTH_CONFIGURATION, "authorization": AUTHORIZATION, "token": TOKEN, "app-flip": APP_FLIP,
        "app-flip-prompt": APP_FLIP_PROMPT,
        "revocation": REVOCATION, "introspection": INTROSPECTION, "userinfo": USERINFO, "metadata": METADATA}
    mistakes += oauth_reference.mistakes(oauth)
    return mistakes + list(oauth_planted.overlooked(oauth, oauth_reference.mistakes))


def differences(root):
    for folder in ["key-sets", *FOLDERS]:
        made = {path.name: path.read_bytes() for path in (root / folder).iterdir()}
        committed = {path.name: path.read_bytes() for path in (FIXTURES / folder).iterdir()}
        for name in sorted(made.keys() | committed.keys()):
            if made.get(name) != committed.get(name):
                yield f"{folder}/{name} differs from what the recipe makes"


def main():
    mistakes = second_opinion()
    if sys.argv[1:] == ["--check"]:
        with tempfile.TemporaryDirectory() as folder:
            write(pathlib.Path(folder))
            mistakes += differences(pathlib.Path(folder))
    elif not sys.argv[1:]:
        write(FIXTURES)
    else:
        sys.exit(__doc__)
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    counts = ", ".join(f"{len(documents)} {name}" for name, documents in FOLDERS.items())
    print(f"{counts}, {len(KEY_SETS)} key sets: {'not ' if mistakes else ''}as they should be")
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
