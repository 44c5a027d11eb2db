"""Reasons of refused token requests, which the service logs and counts: by error, or by the name of the case."""

OF_ERROR = {
    "invalid_request": "request_malformed", "invalid_client": "client_not_authenticated",
    "unauthorized_client": "grant_type_not_allowed", "unsupported_grant_type": "grant_type_unknown",
    "invalid_scope": "scope_not_allowed", "invalid_target": "resource_differs",
}

# An ended family or grant has no rows, so what ended it is not known any more.
OF_CASE = {
    "code-unknown": "code_unknown", "code-google-unknown": "code_unknown", "code-account-erased": "code_unknown",
    "code-credential-revoked": "code_unknown", "code-redeemed-and-revoked": "code_unknown",
    "code-credential-suspended": "credential_revoked",
    "code-expired": "code_expired", "code-google-expired": "code_expired",
    "code-replayed": "code_used", "code-retried": "code_retried", "code-retried-late": "code_retried",
    "code-of-another-client": "other_client",
    "code-for-another-redirect-uri": "redirect_uri_differs", "code-other-redirect-uri": "redirect_uri_differs",
    "code-redirect-uri-missing": "redirect_uri_differs",
    "code-for-another-challenge": "verifier_differs", "code-google-verifier-short": "verifier_differs",
    "code-google-verifier-without-challenge": "verifier_differs", "code-verifier-is-challenge": "verifier_differs",
    "code-verifier-missing": "verifier_differs", "code-with-challenge-plain-as-s256": "verifier_differs",
    "code-without-challenge": "verifier_differs",
    "code-google-missing": "request_malformed", "code-malformed": "request_malformed",
    "code-too-long": "request_malformed", "refresh-google-missing": "request_malformed",
    "refresh-too-long": "request_malformed",
    "refresh-account-erased": "family_ended", "refresh-consent-revoked": "family_ended",
    "refresh-google-consent-revoked": "family_ended", "refresh-google-revoked": "family_ended",
    "refresh-revoked": "family_ended", "refresh-unknown": "family_ended",
    "refresh-altered": "token_rotated", "refresh-expired": "token_expired",
    "refresh-google-refresh-token-rejected": "credential_revoked", "refresh-suspended": "credential_revoked",
    "refresh-of-another-client": "other_client", "refresh-scope-escalation": "scope_exceeded",
    "refresh-reused-after-successor": "token_rotated", "refresh-reused-late": "token_rotated",
    "refresh-web-reused-late": "token_rotated",
    "device-unknown": "device_code_unknown", "device-malformed": "device_code_unknown",
    "device-consent-revoked": "device_code_unknown", "device-account-erased": "device_code_unknown",
    "device-expired": "device_code_expired", "device-expired-after-the-consent": "device_code_expired",
    "device-waiting": "authorization_pending", "device-waiting-polled-in-time": "authorization_pending",
    "device-polled-early": "slow_down", "device-polled-after-slow-down": "slow_down",
    "device-refused": "consent_refused",
    "device-of-another-client": "other_client", "device-agreed-of-another-client": "other_client",
    "device-retried": "code_retried", "device-replayed": "code_used", "device-too-long": "request_malformed",
    "device-credential-suspended": "credential_revoked",
    "assertion-check-disabled": "google_account_disabled", "assertion-get-disabled": "google_account_disabled",
    "assertion-create-linked": "account_exists", "assertion-create-same-address": "account_exists",
    "assertion-create": "account_not_matched", "assertion-get": "account_not_matched",
    "exchange-refused-too-old": "credential_revoked",
    "assertion-scope": "account_not_matched", "assertion-get-revoked": "credential_revoked",
}


def reason(name, expect):
    """The reason of a case; `None` for a case that is not refused."""
    if "error" not in expect and "error" not in expect.get("linking", {}):
        return None
    # An outage is no refusal.
    if expect.get("error") == "temporarily_unavailable":
        return None
    if name.startswith("assertion-refused-"):
        return "assertion_invalid"
    return OF_CASE.get(name) or OF_ERROR[expect["error"]]
