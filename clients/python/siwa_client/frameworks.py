"""SiwaError in FastAPI, Flask and Django: each view may let it pass, and the app gets a status and JSON."""

import logging
from typing import Any, Callable, Dict, Tuple

from .client import SiwaClient
from .errors import SiwaError
from .models import IntrospectionResponse

log = logging.getLogger("siwa_client")


def _answer(error: SiwaError) -> Tuple[Dict[str, Any], int, Dict[str, str]]:
    status, body = error.for_app()
    if status >= 500:
        log.error("a call of siwa failed: %s", error)
    retry = {"Retry-After": str(error.retry_after or 1)} if status == 503 else {}
    return body, status, {"Cache-Control": "no-store", **retry}


def flask_errors(app: Any) -> None:
    """Answers SiwaError in all views of a Flask application."""
    app.register_error_handler(SiwaError, _answer)


def fastapi_errors(app: Any) -> None:
    """Answers SiwaError in all routes of a FastAPI or Starlette application."""
    from starlette.responses import JSONResponse

    async def respond(_: Any, error: SiwaError) -> Any:
        return JSONResponse(*_answer(error))

    app.add_exception_handler(SiwaError, respond)


def fastapi_token(client: SiwaClient, audience: str, *scopes: str) -> Callable[[Any], IntrospectionResponse]:
    """Makes a dependency that verifies the access token of the request: `token = Depends(fastapi_token(...))`."""
    from starlette.requests import Request

    # Not async, so that FastAPI runs it in a thread: it may fetch keys.
    def token(request: Request) -> IntrospectionResponse:
        return client.verify_token(request.headers.get("authorization"), audience, scopes)

    return token


class DjangoErrors:
    """Middleware that answers SiwaError in all views: add `siwa_client.frameworks.DjangoErrors` to MIDDLEWARE."""

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self._get_response = get_response

    def __call__(self, request: Any) -> Any:
        """Passes the request on."""
        return self._get_response(request)

    def process_exception(self, _: Any, error: Exception) -> Any:
        """Called by Django with the exception of a view."""
        from django.http import JsonResponse

        if not isinstance(error, SiwaError):
            return None
        body, status, headers = _answer(error)
        return JsonResponse(body, status=status, headers=headers)
