"""PyJWT checks the token with which `siwa google risc` calls Google: key file and token are the arguments."""

import json
import sys

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key

AUDIENCE = "https://risc.googleapis.com/google.identity.risc.v1beta.RiscManagementService"

file, token = sys.argv[1:]
with open(file, encoding="utf-8") as stream:
    account = json.load(stream)
key = load_pem_private_key(account["private_key"].encode(), None).public_key()
decoded = jwt.decode_complete(
    token,
    key,
    algorithms=["RS256"],
    audience=AUDIENCE,
    issuer=account["client_email"],
    options={"require": ["iss", "sub", "aud", "iat", "exp"]},
)
claims = decoded["payload"]
assert decoded["header"]["kid"] == account["private_key_id"], decoded["header"]
assert decoded["header"]["alg"] == "RS256", decoded["header"]
assert claims["sub"] == account["client_email"], claims
assert claims["exp"] - claims["iat"] == 3600, claims
assert set(claims) == {"iss", "sub", "aud", "iat", "exp"}, claims
print("done")
