"""Vectors of repetitions, and of responses that are late, cut off, or not siwa's."""

from client_calls import ASK, DISABLED, ERASURE, FLIPPED, FORM, LINK, MINTED, OUTCOME, QUESTION, SIGN_IN, CODE
from client_cases import (
    ACCOUNT, ACCOUNT_ID, APP, CLIENT_RETRIES, CLIENT_TRANSPORT, CREDENTIAL, SUB, call, exchange, get, ok, page, post,
    problem, refusal, vector)
from jws import json_text

NONCES = post("/v1/nonces", {})
GET_ACCOUNT = get(f"/v1/accounts/{ACCOUNT_ID}")
SIGN_OUT = post(f"/v1/accounts/{ACCOUNT_ID}/sign-out", {})
OVERLOADED = problem(503, "overloaded", {"retry-after": "2"})
BUSY = problem(503, "storage_unavailable", {"retry-after": "1"})
CLOSED = {"status": 0, "fault": "close"}
UNREACHABLE = refusal("unreachable", None, request_id=None)
FOREIGN = {"code": "unexpected_response", "request_id": None}


def retries(name, summary, request, responses, step, **more):
    vector(CLIENT_RETRIES, name, summary, [exchange(request, response) for response in responses], [step], **more)


def nonce(waits, **more):
    return call("make_nonce", waits=waits, **more)


retries("retry-after", "The pause is siwa's, in seconds.", NONCES, [OVERLOADED, ok(MINTED, 201)], nonce([2], returns=MINTED))
retries("retry-after-of-5", "The longest pause that a call waits for.", NONCES,
        [problem(503, "keys_unavailable", {"retry-after": "5"}), ok(MINTED, 201)], nonce([5], returns=MINTED))
retries("retry-after-of-6", "Longer: the caller gets the error with the seconds, and is not held.", NONCES,
        [problem(503, "keys_unavailable", {"retry-after": "6"})], nonce([], error=refusal("keys_unavailable", 503, 6)))
retries("retry-after-absent", "After 1 and 2 seconds.", NONCES,
        [problem(503, "overloaded"), problem(503, "overloaded"), ok(MINTED, 201)], nonce([1, 2], returns=MINTED))
for name, value in [("date", "Wed, 21 Oct 2026 07:28:00 GMT"), ("zero", "0"), ("negative", "-1"), ("fraction", "1.5"),
                    ("word", "soon"), ("of-5000-digits", "9" * 5000)]:
    retries(f"retry-after-{name}", "Not a number of seconds, as if it were absent.", NONCES,
            [problem(503, "overloaded", {"retry-after": value}), ok(MINTED, 201)], nonce([1], returns=MINTED))
retries("three-attempts", "The third refusal is the result, with what siwa says.", NONCES, [BUSY, BUSY, OVERLOADED],
        nonce([1, 1], error=refusal("overloaded", 503, 2)))
retries("one-attempt", "The caller repeats nothing.", NONCES, [BUSY], nonce([], error=refusal("storage_unavailable", 503, 1)),
        client={"attempts": 1})
retries("internal-error", "A 500 is repeated.", GET_ACCOUNT, [problem(500, "internal_error"), ok(ACCOUNT)],
        call("account", {"account_id": ACCOUNT_ID}, {"id": ACCOUNT_ID}, waits=[1]))
retries("too-many-requests", "Only a proxy sends 429. It is no page of siwa.", NONCES,
        [page(429, **{"retry-after": "3"}), ok(MINTED, 201)], nonce([3], returns=MINTED))
retries("page-of-a-proxy", "502 and 504 as HTML, while siwa restarts.", NONCES, [page(502), page(504), page(503)],
        nonce([1, 2], error={"code": "unavailable", "status": 503, "request_id": None}))
retries("lost-response", "The connection closes without a response.", GET_ACCOUNT, [CLOSED, ok(ACCOUNT)],
        call("account", {"account_id": ACCOUNT_ID}, {"id": ACCOUNT_ID}, waits=[1]))
retries("lost-responses", "Three times. siwa may have executed the call.", NONCES, [CLOSED] * 3,
        nonce([1, 2], error=UNREACHABLE))
retries("sign-in", "A repeated sign-in has no second effect.", post("/v1/sign-ins", {**SIGN_IN, "authorization_code": CODE}),
        [CLOSED, ok(OUTCOME, 201)], call("sign_in", {"form": FORM}, OUTCOME, waits=[1]))
retries("sign-in-that-happened", "The first attempt was stored: the app starts again with a new nonce.",
        post("/v1/sign-ins", {**SIGN_IN, "authorization_code": CODE}), [CLOSED, problem(401, "nonce_used")],
        call("sign_in", {"form": FORM}, error=refusal("nonce_used", 401), waits=[1]))
retries("delete", "Another DELETE returns the same report.", get(f"/v1/accounts/{ACCOUNT_ID}", "DELETE"),
        [CLOSED, ok({"erasure": ERASURE})], call("delete", {"account_id": ACCOUNT_ID}, ERASURE, waits=[1]))
retries("states", "A POST that only reads.", post("/v1/credentials/query", {"client_id": APP, "subs": [SUB]}),
        [BUSY, ok({"credentials": [{"sub": SUB, **CREDENTIAL}]})], call("states", {"subs": [SUB]}, [{"sub": SUB}], waits=[1]))
retries("introspect", "A token is never valid because siwa does not respond.", QUESTION,
        [problem(503, "storage_unavailable", {"retry-after": "1"})] * 3,
        call("introspect", ASK, error={"code": "storage_unavailable", "status": 503}, waits=[1, 1]))

# What siwa may have executed, and must not be executed twice.
FLIP = post("/v1/oauth/app-flip", {**LINK, "decision": "granted", "account_id": ACCOUNT_ID})
ONCE = [("sign-out", SIGN_OUT, call("sign_out", {"account_id": ACCOUNT_ID})),
        ("disable", post(f"/v1/accounts/{ACCOUNT_ID}/disable", {"reason": "fraud"}),
         call("disable", {"account_id": ACCOUNT_ID, "reason": "fraud"})),
        ("enable", post(f"/v1/accounts/{ACCOUNT_ID}/enable", {}), call("enable", {"account_id": ACCOUNT_ID})),
        ("app-flip", FLIP, call("app_flip", {"form": {**LINK, "decision": "granted"}, "account_id": ACCOUNT_ID}))]
for name, request, step in ONCE:
    step = {member: value for member, value in step.items() if member != "returns"}
    retries(f"never-{name}-lost", "It may have happened. A second time would change what others did in between.", request,
            [CLOSED], {**step, "error": UNREACHABLE})
    retries(f"never-{name}-503", "A 503 does not mean that nothing happened.", request, [BUSY],
            {**step, "error": refusal("storage_unavailable", 503, 1)})
    result = {"app-flip": FLIPPED, "disable": DISABLED}.get(name, ACCOUNT)
    retries(f"{name}-overloaded", "siwa refused the request before it read it.", request, [OVERLOADED, ok(result)],
            {**step, "returns": {}, "waits": [2]})
retries("sign-out-too-many-requests", "A proxy refused the request, and siwa never got it.", SIGN_OUT,
        [page(429), ok(ACCOUNT)], call("sign_out", {"account_id": ACCOUNT_ID}, {}, waits=[1]))
for status, code in [(400, "member_malformed"), (401, "token_expired"), (401, "caller_unauthenticated"),
                     (403, "account_disabled"), (403, "caller_forbidden"), (404, "client_id_unknown"),
                     (409, "account_exists"), (413, "body_too_large")]:
    retries(f"never-{code.replace('_', '-')}", "The same request would fail again.",
            post("/v1/sign-ins", {**SIGN_IN, "authorization_code": CODE}), [problem(status, code)],
            call("sign_in", {"form": FORM}, error=refusal(code, status)))


def transport(name, summary, responses, step, **more):
    vector(CLIENT_TRANSPORT, name, summary, [exchange(GET_ACCOUNT, response) for response in responses], [step], **more)


def read(**more):
    return call("account", {"account_id": ACCOUNT_ID}, **more)


GOOD = {"id": ACCOUNT_ID}
vector(CLIENT_TRANSPORT, "down", "Nothing listens at the port.", [], [read(error=UNREACHABLE, waits=[1, 2])], down=True)
vector(CLIENT_TRANSPORT, "down-once-only", "No connection: it was certainly not executed, so it is repeated too.", [],
       [call("sign_out", {"account_id": ACCOUNT_ID}, error=UNREACHABLE, waits=[1, 2])], down=True)
transport("half-a-body", "The connection closes in the body.", [{**ok(ACCOUNT), "fault": "cut", "bytes": 60}, ok(ACCOUNT)],
          read(returns=GOOD, waits=[1]))
transport("half-a-body-chunked", "The same with chunks: the last chunk is missing.",
          [{**ok(ACCOUNT), "chunked": True, "fault": "cut", "bytes": 60}, ok(ACCOUNT)], read(returns=GOOD, waits=[1]))
transport("head-only", "The connection closes after the head.", [{**ok(ACCOUNT), "fault": "cut", "bytes": 0}, ok(ACCOUNT)],
          read(returns=GOOD, waits=[1]))
transport("chunked", "A proxy may use chunks.", [{**ok(ACCOUNT), "chunked": True}], read(returns=GOOD))
transport("silent", "No response in time.", [{"status": 0, "fault": "silent"}], read(error=UNREACHABLE, within_seconds=10),
          client={"timeout_seconds": 1, "attempts": 1})
transport("drip", "A byte now and then. The time limit is for the whole response.", [{**ok(ACCOUNT), "fault": "drip"}],
          read(error=UNREACHABLE, within_seconds=10), client={"timeout_seconds": 1, "attempts": 1})
transport("html", "The URL is that of another server.", [page(200)], read(error={**FOREIGN, "status": 200}))
transport("html-that-claims-json", "HTML with the wrong type.", [page(200, **{"content-type": "application/json"})],
          read(error={**FOREIGN, "status": 200}))
transport("json-as-html", "JSON that another type names.", [{**ok(ACCOUNT), "headers": {"content-type": "text/html"}}],
          read(error={**FOREIGN, "status": 200}))
transport("html-404", "A path of another server.", [page(404)], read(error={**FOREIGN, "status": 404}))
transport("html-401", "A proxy asks for a password. The app's user has not failed.", [page(401)],
          read(error={**FOREIGN, "status": 401}))
transport("json-of-another-server", "An error without siwa's code.",
          [{"status": 404, "json": {"message": "no Route matched with those values"}}],
          read(error={**FOREIGN, "status": 404}))
for name, body in [("empty", ""), ("cut", "{\"id\":"), ("array", "[]"), ("null", "null"), ("nested", "[" * 100_000),
                   ("bad-escape", "{\"id\":\"\\x\"}")]:
    transport(f"json-{name}", "200 with a body that is not one JSON object.", [{"status": 200, "body": body}],
              read(error={"code": "unexpected_response"}))
transport("member-missing", "JSON, and no account.", [ok({"ok": True})], read(error={"code": "unexpected_response"}))
transport("member-of-another-type", "A text in place of a list.", [ok({**ACCOUNT, "credentials": "none"})],
          read(error={"code": "unexpected_response"}))
transport("boolean-for-a-number", "In some languages true is a number.", [ok({**ACCOUNT, "real_user_status": True})],
          read(error={"code": "unexpected_response"}))
transport("number-for-a-boolean", "In some languages 1 is true.", [ok({**ACCOUNT, "email_verified": 1})],
          read(error={"code": "unexpected_response"}))
transport("time-malformed", "A text that is no time.", [ok({**ACCOUNT, "created_at": "soon"})],
          read(error={"code": "unexpected_response"}))
for status in (301, 302, 303, 307, 308):
    transport(f"redirect-{status}", "A redirect is not followed: the key would reach another server.",
              [{"status": status, "headers": {"location": "/v1/elsewhere"}}],
              read(error={**FOREIGN, "status": status}))
transport("redirect-with-json", "A redirect with a body is a redirect.",
          [ok(ACCOUNT, 307, headers={"location": "/v1/elsewhere"})], read(error={"code": "unexpected_response", "status": 307}))
transport("problem-in-a-redirect", "A code decides nothing there.",
          [{**problem(404, "account_not_found", {"location": "/x"}), "status": 302}],
          read(error={"code": "unexpected_response", "status": 302}))
TEXT, MOST = json_text(ACCOUNT), 4 * 1024 * 1024
transport("long-body", "The longest body that is read: 4 MiB.",
          [{"status": 200, "body_parts": [{"text": TEXT}, {"text": " ", "times": MOST - len(TEXT)}]}], read(returns=GOOD))
transport("too-long-a-body", "One byte more.",
          [{"status": 200, "body_parts": [{"text": TEXT}, {"text": " ", "times": MOST - len(TEXT) + 1}]}],
          read(error={**FOREIGN, "status": 200}))
transport("endless-body", "A body of a terabyte is not read to its end.",
          [{"status": 200, "headers": {"content-length": str(1 << 40)},
            "body_parts": [{"text": TEXT}, {"text": " ", "times": 2 * MOST}]}],
          read(error={**FOREIGN, "status": 200}))
vector(CLIENT_TRANSPORT, "other-key", "The key of the client, and no other.",
       [exchange(get(f"/v1/accounts/{ACCOUNT_ID}", authorization="Bearer siwa_AZaz09-_~"), ok(ACCOUNT))],
       [read(returns=GOOD)], client={"api_key": "siwa_AZaz09-_~"})
transport("request-id-in-header", "The ID of a response whose body has none.",
          [{"status": 400, "headers": {"x-request-id": "abc"}, "json": {"error": "invalid_request"}}],
          read(error={"code": "invalid_request", "status": 400, "request_id": "abc"}))
for name, version, count in [("same", "1", 0), ("newer", "2", 1), ("older", "0", 1), ("malformed", "one", 0)]:
    answer = ok(ACCOUNT, headers={"siwa-api-version": version})
    vector(CLIENT_TRANSPORT, f"version-{name}", "The version of the interface. Another one is logged once, and is no error.",
           [exchange(GET_ACCOUNT, answer)] * 2, [read(returns=GOOD, warnings=count), read(returns=GOOD, warnings=0)])
