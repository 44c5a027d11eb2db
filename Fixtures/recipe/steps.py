"""The steps that scenarios are made of."""

import hashlib
import hmac

from jws import base64url
from cases import APP, AT, DAY, SUB, WEB, claims, event, notice, rfc3339, signed

SCENARIOS = {}
TEAM, OTHER_TEAM = "FXTEAM0001", "FXTEAM0002"
SECOND_APP, OTHER_TEAMS_APP = "com.example.siwa.second", "net.example.other.app"
APPS = [
    {"team_id": TEAM, "client_ids": [APP, WEB]},
    {"team_id": TEAM, "client_ids": [SECOND_APP]},
    {"team_id": OTHER_TEAM, "client_ids": [OTHER_TEAMS_APP]},
]
MINUTE, HOUR = 60, 3600


def token(after, key="signer-1", **changes):
    """An identity token that Apple mints so many seconds after the scenario's beginning."""
    moment = AT + after
    return signed(claims(**{"iat": moment, "exp": moment + DAY, "auth_time": moment, **changes}), key=key)


def payload(after, jti, key="signer-1", aud=APP, event_after=None, **changes):
    """A notification that Apple sends so many seconds after the beginning, about something ten seconds earlier."""
    happened = (AT + (after - 10 if event_after is None else event_after)) * 1000
    members = {"type": "consent-revoked", "sub": SUB, "event_time": happened, **changes}
    return signed(notice(event(**members), iat=AT + after, exp=AT + after + DAY, aud=aud, jti=jti), key=key)


def since(after):
    """As the service answers it: always with milliseconds."""
    return rfc3339(AT + after).replace("Z", ".000Z")


class Scenario:
    """Steps in order; each names its moment, in seconds after the beginning."""

    def __init__(self, name, summary):
        assert name not in SCENARIOS
        self.steps = []
        SCENARIOS[name] = {"summary": summary, "apps": APPS, "steps": self.steps}

    def step(self, after, action, value, expect=None, note=None):
        assert not self.steps or rfc3339(AT + after) >= self.steps[-1]["at"], "time does not run backwards"
        step = {"at": rfc3339(AT + after)}
        if note:
            step["note"] = note
        step[action] = value
        if expect:
            step["expect"] = expect
        self.steps.append(step)
        return self

    def apple_keys(self, after, body_file=None, status=200, headers=None, note=None, **more):
        """What Apple's key endpoint answers from now on."""
        answer = {"status": status,
                  "headers": {"content-type": "application/json;charset=ISO-8859-1", **(headers or {})}}
        if body_file:
            answer["body_file"] = "../key-sets/" + body_file
        return self.step(after, "apple_keys", {**answer, **more}, note=note)

    def apple_unreachable(self, after, note=None):
        return self.step(after, "apple_keys", {"unreachable": True}, note=note)

    def restart(self, after, expect=None, note=None):
        return self.step(after, "restart", {}, expect, note)

    def sign_in(self, after, identity_token, expect, note=None, **request):
        return self.step(after, "sign_in", {"identity_token": identity_token, **request}, expect, note)

    def verify(self, after, identity_token, expect, note=None, **request):
        return self.step(after, "verify", {"identity_token": identity_token, **request}, expect, note)

    def flood(self, after, count, identity_token, expect, note=None):
        """The same token over and over, each time under another invented key ID."""
        return self.step(after, "flood", {"count": count, "identity_token": identity_token}, expect, note)

    def notification(self, after, jws, expect, note=None):
        return self.step(after, "notification", {"payload": jws}, expect, note)

    def credential(self, after, expect, sub=SUB, client_id=APP, note=None):
        return self.step(after, "credential", {"sub": sub, "client_id": client_id},
                         {"status": 200, **expect}, note)

    def account(self, after, expect, sub=SUB, client_id=APP, note=None):
        return self.step(after, "account", {"sub": sub, "client_id": client_id}, expect, note)

    def mint_nonce(self, after, nonce, note=None):
        """A nonce that the service hands out at this moment; made here, because a token must carry it."""
        return self.step(after, "mint_nonce", {"nonce": nonce}, note=note)


NONCE_KEY = hashlib.sha256(b"the nonce key of the fixtures").digest()


def minted_nonce(after):
    """What the service makes so many seconds after the beginning: expiry after ten minutes, randomness, MAC."""
    prefix = "siwa-nonce-"
    content = ((AT + after + 600) * 1000).to_bytes(6, "big") + hashlib.sha256(b"randomness").digest()[:16]
    code = hmac.new(NONCE_KEY, prefix.encode() + content, hashlib.sha256).digest()
    return prefix + base64url(content + code)


def ok(**more):
    return {"status": 200, **more}


def created(**more):
    return {"status": 201, "is_new_account": True, **more}


def refused(status, code, **more):
    return {"status": status, "code": code, **more}


def authorized(after):
    return {"state": "authorized", "reason": "signed_in", "source": "sign_in", "since": since(after)}


def revoked(after, reason="consent_revoked"):
    return {"state": "revoked", "reason": reason, "source": "notification", "since": since(after)}


NOT_FOUND = {"state": "notFound"}
