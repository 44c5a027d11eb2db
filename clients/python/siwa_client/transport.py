"""HTTP to siwa: time limits, bounds and repetitions."""

import http.client
import io
import json
import logging
import re
import socket
import ssl
import time
from typing import Any, Dict, Optional
from urllib.parse import urlsplit

from .errors import SiwaError

log = logging.getLogger("siwa_client")

VERSION = "0.1.0"
API_VERSION = 1
"""The version of siwa's interface that this package was written for."""
LONGEST_RESPONSE = 4 * 1024 * 1024
"""Bytes of a body. siwa's longest response, a page of 1,000 events, has about 1 MB."""
LONGEST_PAUSE = 5
"""Seconds. A call waits no longer for a repetition: the caller gets the error with `retry_after` in its place."""


class Clock:
    """The time and the pauses of a client. Tests replace it."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Returns after so many seconds."""
        time.sleep(seconds)


class _TimedReader(io.RawIOBase):
    """Reads from a socket until a moment. The time limit of a socket is for one read, so a peer that sends a byte now
    and then would hold the caller for hours."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection, self._deadline = connection, deadline

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise socket.timeout("timed out")
        self._connection.settimeout(remaining)
        return self._connection.recv_into(buffer)


class Transport:
    """One connection for each attempt. Follows no redirects and uses no proxies, so the key reaches only siwa."""

    def __init__(self, url: str, api_key: str, timeout: float, attempts: int, context: Optional[ssl.SSLContext],
                 clock: Clock) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
            raise ValueError("the URL of siwa must be like https://siwa.internal: set SIWA_URL")
        # The messages repeat neither the key nor the URL, which may contain a password.
        if not api_key.isascii() or not api_key.isprintable() or " " in api_key or not api_key:
            raise ValueError("the API key must be visible ASCII characters: set SIWA_API_KEY")
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._context = (context or ssl.create_default_context()) if parts.scheme == "https" else None
        self._authorization = f"Bearer {api_key}"
        self._timeout, self._attempts, self._clock = timeout, attempts, clock
        self._is_version_known = False

    def call(self, method: str, target: str, body: Optional[bytes] = None, content_type: str = "application/json", *,
             can_repeat: bool = True, has_key: bool = True, timeout: Optional[float] = None,
             attempts: Optional[int] = None) -> Any:
        """Returns the JSON of a successful response, None without a body. Raises SiwaError.

        can_repeat: a second execution changes nothing. Otherwise the call is repeated only if it was certainly not
        executed.
        """
        headers = {"User-Agent": f"siwa-client-python/{VERSION}", "Accept": "application/json"}
        if has_key:
            headers["Authorization"] = self._authorization
        if body is not None:
            headers["Content-Type"] = content_type
        for attempt in range(1, (attempts or self._attempts) + 1):
            try:
                return self._once(method, target, body, headers, timeout or self._timeout)
            except SiwaError as error:
                pause = attempt if error.retry_after is None else error.retry_after
                was_refused = not error._was_sent or error.code == "overloaded" or error.status == 429
                if (attempt == (attempts or self._attempts) or not error.is_temporary or pause > LONGEST_PAUSE
                        or not (can_repeat or was_refused)):
                    raise
                # Without the path, which contains IDs of people.
                log.info("a call of siwa failed (%s); attempt %d follows in %d s", error, attempt + 1, pause)
                self._clock.sleep(pause)
        raise AssertionError("at least one attempt")

    def _once(self, method: str, target: str, body: Optional[bytes], headers: Dict[str, str], timeout: float) -> Any:
        deadline = time.monotonic() + timeout
        connection = (http.client.HTTPConnection(self._host, self._port, timeout) if self._context is None else
                      http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context))
        was_sent = False
        try:
            connection.connect()
            was_sent = True
            connection.request(method, self._path + target, body, headers)
            reader = _TimedReader(connection.sock, deadline)
            with http.client.HTTPResponse(reader, method=method) as response:  # type: ignore[arg-type]
                response.begin()
                data = response.read(LONGEST_RESPONSE + 1)
                if response.length and len(data) <= LONGEST_RESPONSE:
                    raise http.client.IncompleteRead(data, response.length)
        except (OSError, http.client.HTTPException) as error:
            failure = SiwaError("unreachable", None, f"no complete response from {self._url} ({type(error).__name__}): "
                                "is siwa running, and is SIWA_URL right?")
            failure._was_sent = was_sent
            raise failure from error
        finally:
            connection.close()
        return self._result(response, data)

    def _result(self, response: http.client.HTTPResponse, data: bytes) -> Any:
        status, request_id = response.status, response.headers.get("X-Request-ID")
        retry_after = response.headers.get("Retry-After", "")
        self._check_version(response.headers.get("Siwa-API-Version", ""))
        if status == 204:
            return None
        kind = response.headers.get_content_type()
        try:
            if len(data) > LONGEST_RESPONSE or kind not in ("application/json", "application/problem+json"):
                raise ValueError
            value = json.loads(data)
            if not isinstance(value, dict):
                raise ValueError
        except (ValueError, RecursionError):
            value = {}
        if 200 <= status < 300 and value:
            return value
        code, detail, cause, re_attest = (value.get(name) for name in ("code", "detail", "cause", "re_attest"))
        code = code or value.get("error")  # the form of OAuth (RFC 6749 §5.2)
        if status < 400 or not isinstance(code, str):
            code, detail = "unavailable" if status >= 500 or status == 429 else "unexpected_response", None
        raise SiwaError(
            code, status, str(detail or f"the response of {self._url} is not siwa's ({kind})"), request_id=request_id,
            retry_after=int(retry_after) if re.fullmatch("[1-9][0-9]{0,8}", retry_after) else None,
            cause=cause if isinstance(cause, str) else None, re_attest=re_attest if isinstance(re_attest, bool) else None)

    def _check_version(self, version: str) -> None:
        if self._is_version_known or not re.fullmatch("[0-9]{1,9}", version):
            return
        self._is_version_known = True
        if int(version) != API_VERSION:
            log.warning("siwa's interface has version %s, and siwa-client %s needs %d: upgrade %s", version, VERSION,
                        API_VERSION, "siwa-client" if int(version) > API_VERSION else "siwa")
