"""What one vector of a client is: the exchanges that siwa plays, and the calls of the client with their results."""

from cases import AT, rfc3339

CLIENT_CALLS, CLIENT_RETRIES, CLIENT_TRANSPORT = {}, {}, {}
CLIENT_EVENTS, CLIENT_WEBHOOKS, CLIENT_TOKENS, CLIENT_KEYS = {}, {}, {}, {}

KEY = "siwa_development"
APP = "com.example.app"
REQUEST_ID = "7f4m1eqgrg9uf"
ACCOUNT_ID = "acc_01a1fbea-fd31-77cb-bae8-b913bd619922"
SUB = "000317.d4f53f86755a4051a88a6d8526750e7f.1444"
CREDENTIAL = {
    "client_id": APP, "state": "authorized", "reason": "signed_in", "source": "sign_in",
    "since": "2026-03-14T09:29:40.000Z", "refresh_token": "pending",
}
ACCOUNT = {
    "id": ACCOUNT_ID, "team_id": "A1B2C3D4E5", "sub": SUB, "email": "vwjnku38yv@privaterelay.appleid.com",
    "email_verified": True, "is_private_email": True, "email_forwarding": "unknown", "first_name": "Ada",
    "last_name": "Lovelace", "real_user_status": 2, "created_at": "2026-03-14T09:30:00.889Z",
    "last_sign_in_at": "2026-03-14T09:30:00.889Z", "credentials": [CREDENTIAL],
}


def post(target, json, **headers):
    return {"method": "POST", "target": target, "json": json,
            "headers": {"authorization": f"Bearer {KEY}", "content-type": "application/json", **headers}}


def get(target, method="GET", **headers):
    return {"method": method, "target": target, "headers": {"authorization": f"Bearer {KEY}", **headers}}


def ok(json, status=200, **more):
    return {"status": status, "headers": {"x-request-id": REQUEST_ID}, "json": json, **more}


def problem(status, code, headers=None, **members):
    return {
        "status": status,
        "headers": {"content-type": "application/problem+json", "x-request-id": REQUEST_ID, **(headers or {})},
        "json": {"type": f"urn:siwa:problem:{code}", "title": "Title", "status": status, "code": code,
                 "detail": "What was expected, what was found, and what to do.", **members, "request_id": REQUEST_ID},
    }


def page(status, text="<!doctype html><title>A proxy</title>", **headers):
    """A response that is not from siwa."""
    return {"status": status, "headers": {"content-type": "text/html", **headers}, "body": text}


def exchange(request, response):
    return {"request": request, "response": response}


def call(name, arguments=None, returns=None, error=None, **more):
    """One call of the client, with its result: the members of `returns` or `error`, each of which must be equal."""
    step = {"call": name, "arguments": arguments or {}, **more}
    step.update({"error": error} if error is not None else {"returns": returns})
    return step


def refusal(code, status, retry_after=None, request_id=REQUEST_ID, **members):
    return {"code": code, "status": status, "request_id": request_id, "retry_after": retry_after, **members}


def vector(folder, name, summary, exchanges, steps, at=AT, **more):
    assert name not in folder, f"two vectors are called {name}"
    folder[name] = {"summary": summary, **more, "at": rfc3339(at), "exchanges": exchanges, "steps": steps}
