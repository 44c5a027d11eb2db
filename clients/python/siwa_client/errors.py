"""The one error of the package."""

from typing import Any, Dict, Optional, Tuple


class SiwaError(Exception):
    """A refusal, or the lack of a usable response. Branch on `code`, which never changes its meaning.

    Codes with a `request_id` come from siwa; docs/api.md lists them. The package makes these codes itself:
    `unreachable` (no complete response in time; siwa may have executed the call), `unavailable` (a 5xx or 429 of a
    proxy), `unexpected_response` (not siwa's response: check the URL), and the codes that the methods name.
    """

    def __init__(self, code: str, status: Optional[int] = None, detail: str = "", *, request_id: Optional[str] = None,
                 retry_after: Optional[int] = None, cause: Optional[str] = None,
                 re_attest: Optional[bool] = None) -> None:
        super().__init__(code, status, detail)
        self.code = code
        self.status = status
        """The HTTP status, or None without a response."""
        self.detail = detail
        """A sentence for the log. It contains no token, address or key."""
        self.request_id = request_id
        """The ID of the request in siwa's log."""
        self.retry_after = retry_after
        """Seconds to wait before the same call can succeed, or None."""
        self.cause = cause
        """With `attestation_required` and `attestation_invalid`: the reason."""
        self.re_attest = re_attest
        """With `cause`: True if the app can continue with a new key that it attests."""
        self._was_sent = True  # False: there was no connection, so siwa certainly did not execute the call

    def __str__(self) -> str:
        parts = [self.code, f"status {self.status}" if self.status else "", self.detail,
                 f"request {self.request_id}" if self.request_id else "",
                 "check SIWA_URL and SIWA_API_KEY" if self.for_app()[0] == 500 else ""]
        return ", ".join(part for part in parts if part)

    @property
    def is_temporary(self) -> bool:
        """True if the same call can succeed later."""
        return self.code == "unreachable" or self.status == 429 or (self.status or 0) >= 500

    def for_app(self) -> Tuple[int, Dict[str, Any]]:
        """The status and the JSON for the app, if a call for one of the app's requests raised this error.

        A refusal keeps its status and code. 503 `try_again` means that the app tries again later. 500 is a mistake
        of the backend, such as a wrong API key: log it.
        """
        if self.is_temporary:
            return 503, {"error": "try_again"}
        if self.status is None or self.code == "unexpected_response" or self.code.startswith("caller_"):
            return 500, {"error": "internal_error"}
        proof = {"cause": self.cause, "re_attest": self.re_attest}
        return self.status, {"error": self.code, **{name: value for name, value in proof.items() if value is not None}}
