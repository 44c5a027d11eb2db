"""An app without a backend, in enforced mode: it attests its key, and proves each of its token requests."""

from iphone import (
    CHALLENGES, KEYS, ask, is_refused_for, make_key, proven, refresh, register, sheet, tokens, userinfo,
)
from relying import User, expect, given, is_refused

import requests

user = User()
form = sheet(user)
is_refused_for("proof_missing", ask(form))

# The key is unknown, so that the app makes a new one, and repeats the request. The nonce was not used up.
lost = make_key()
is_refused_for("attestation_key_unknown", ask(proven(lost, form)), re_attest=True)
key = make_key()
expect(register(key)["environment"] == "development", "builds from Xcode")
complete = proven(key, form)
said = tokens(complete)
shown = userinfo(said["access_token"])
expect(shown.status_code == 200 and shown.json()["sub"].startswith("acc_"), shown.text)

# A recorded request, a proof of another request, and a refresh without a proof.
is_refused_for("counter_not_increased", ask(complete))
other = sheet(user)
is_refused_for("client_data_mismatch", ask({**proven(key, form), "subject_token": other["subject_token"]}))
again = refresh(said["refresh_token"])
is_refused_for("proof_missing", ask(again))
expect(tokens(proven(key, again))["refresh_token"] != said["refresh_token"], "rotated")

# Attestations that do not hold register nothing.
foreign = make_key(wrong=["foreign_root"])
is_refused_for("chain_untrusted", requests.post(KEYS, data=foreign))
is_refused_for("environment_mismatch", requests.post(KEYS, data=make_key(environment="production")), re_attest=True)
is_refused_for("attestation_key_unknown", ask(proven(foreign, other)), re_attest=True)

# Neither a client without App Check, nor one with a secret.
native, web = given["clients"]["native"], given["clients"]["web"]
for parameters in ({"client_id": native["id"]}, {"client_id": web["id"], "client_secret": web["secret"]}):
    is_refused(requests.post(CHALLENGES, data={**parameters, "purpose": "assertion"}), "unauthorized_client")
print("done")
