"""The app on an iPhone of an iOS team without a backend. The fake Apple plays the iPhone and the sheet, `requests` the app.

The app attests its key, and each of its token requests has a proof. It uses no API key.
"""

import json
import urllib.parse

from relying import ISSUER, expect, given, is_refused, metadata

import requests

PHONE = given["clients"]["phone"]["id"]
APPLE = f"{given['apple']}/emulator"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
CHALLENGES, KEYS = metadata["app_attest_challenges_endpoint"], metadata["app_attest_keys_endpoint"]


def encode(text):
    return urllib.parse.quote(text, safe="-._~")


def canonical(form):
    """The form in which a proof vouches for a token request."""
    return "&".join(sorted(f"{encode(name)}={encode(value)}" for name, value in form.items()))


def challenge(purpose):
    answer = requests.post(CHALLENGES, data={"client_id": PHONE, "purpose": purpose})
    expect(answer.status_code == 201 and answer.json()["expires_in"] == 300, answer.text)
    return answer.json()["challenge"]


def make_key(**wrong):
    """Makes a key on a fake iPhone, and has it attested. Returns the parameters of its registration."""
    text = challenge("attestation")
    made = requests.post(f"{APPLE}/app-attest/keys", json={"challenge": text, **wrong}).json()
    return {"client_id": PHONE, "key_id": made["key_id"], "attestation": made["attestation"], "challenge": text}


def register(key):
    answer = requests.post(KEYS, data=key)
    expect(answer.status_code == 201 and answer.json()["is_new_key"], answer.text)
    return answer.json()["key"]


def proven(key, form):
    """Returns the token request with a proof of all its parameters."""
    order = {"key_id": key["key_id"], "challenge": challenge("assertion"), "vouch_for": canonical(form)}
    made = json.loads(requests.post(f"{APPLE}/app-attest/assertions?format=text", json=order).text)
    return {
        **form, "attestation_key_id": made["key_id"], "attestation_assertion": made["assertion"],
        "attestation_client_data": made["client_data"],
    }


def sheet(user):
    """The app gets a nonce and shows Apple's sheet. Returns the parameters of its token request."""
    minted = requests.post(f"{ISSUER}/oauth/nonce", data={"client_id": PHONE}).json()
    order = {"sub": user.subject, "code": True, "nonce": minted["nonce_sha256"]}
    said = requests.post(f"{APPLE}/identity-tokens", json=order).json()
    return {
        "grant_type": TOKEN_EXCHANGE, "client_id": PHONE, "subject_token": said["identity_token"],
        "subject_token_type": ID_TOKEN, "nonce": minted["nonce"], "scope": "openid email offline_access",
        "authorization_code": said["authorization_code"], "app_version": "1.0",
    }


def refresh(token):
    return {"grant_type": "refresh_token", "refresh_token": token, "client_id": PHONE}


def ask(form):
    return requests.post(metadata["token_endpoint"], data=form)


def tokens(form):
    answer = ask(form)
    expect(answer.status_code == 200, answer.text)
    return answer.json()


def userinfo(token):
    return requests.get(metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {token}"})


def is_refused_for(cause, answer, re_attest=False):
    is_refused(answer, "invalid_client", 401)
    said = answer.json()
    expect(said["cause"] == cause and said["re_attest"] is re_attest, answer.text)
