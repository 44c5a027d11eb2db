"""A browser for one person on Apple's pages, without a screen."""

from __future__ import annotations

import http.cookiejar
import ssl
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Dict, List, Mapping, Optional, Tuple

from .control import EmulatorError


@dataclass
class Form:
    """One form of a page."""

    action: str
    method: str
    fields: Dict[str, str] = field(default_factory=dict)
    buttons: Dict[str, List[str]] = field(default_factory=dict)


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: List[Form] = []
        self.words: List[str] = []
        self._is_content = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "main":
            self._is_content = True
        if tag == "form":
            self.forms.append(Form(values.get("action", ""), values.get("method", "get").upper()))
        elif self.forms and "name" in values:
            form = self.forms[-1]
            if tag == "input" and (values.get("type") not in ("radio", "checkbox") or "checked" in values):
                form.fields[values["name"]] = values.get("value", "")
            elif tag == "button":
                form.buttons.setdefault(values["name"], []).append(values.get("value", ""))

    def handle_data(self, data: str) -> None:
        if data.strip() and self._is_content:
            self.words.append(data.strip())


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


class Browser:
    """Opens pages of one origin, keeps its cookies, and presses buttons."""

    def __init__(self, issuer: str, url: str, ca_file: str) -> None:
        self._issuer = issuer
        self._url = url
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca_file)),
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()),
            _NoRedirects(),
        )

    def open(self, url: str, form: Optional[Mapping[str, str]] = None) -> Answer:
        """Requests a page of Apple's, at the fake. Raises `EmulatorError` ``page_refused``."""
        # The backend names Apple's address, or the fake's. Both are this fake.
        wanted = urllib.parse.urlsplit(urllib.parse.urljoin(self._url, url))
        here = urllib.parse.urlsplit(self._url)
        if wanted.netloc not in (here.netloc, urllib.parse.urlsplit(self._issuer).netloc):
            raise EmulatorError("page_refused", f"{wanted.scheme}://{wanted.netloc} is not Apple's address")
        address = urllib.parse.urlunsplit((here.scheme, here.netloc, wanted.path, wanted.query, ""))
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(address, data, {"Accept": "text/html"})
        if data is not None:
            request.add_header("Origin", self._url)
        try:
            with self._opener.open(request, timeout=75) as response:
                return Answer(response.status, response.headers.get("Location"), response.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers.get("Location"), error.read().decode(errors="replace"))
        except OSError as error:
            raise EmulatorError("stopped", str(error)) from None


@dataclass(frozen=True)
class Answer:
    """The response to a browser."""

    status: int
    location: Optional[str]
    text: str

    def form(self, button: str, value: Optional[str] = None) -> Form:
        """Returns the form that has this button. Raises `EmulatorError` ``page_refused`` with the page's words."""
        page = _Page(self.text)
        for form in page.forms:
            if button in form.buttons and (value is None or value in form.buttons[button]):
                return form
        raise EmulatorError("page_refused", " ".join(page.words)[:500], self.status)

    def forms(self) -> List[Form]:
        """Returns all forms of the page."""
        return _Page(self.text).forms
