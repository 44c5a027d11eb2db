"""Reads the pages that a user sees, without a browser."""

import sys
from html.parser import HTMLParser


def expect(condition, words):
    if not condition:
        sys.exit(f"not as expected: {words}")


class Forms(HTMLParser):
    """The forms of a page: where they lead, their fields and their buttons."""

    def __init__(self, page):
        super().__init__()
        self.forms = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.forms.append({"action": values.get("action", ""), "fields": {}, "buttons": {}})
        elif tag == "input" and self.forms and "name" in values:
            if values.get("type") != "radio" or "checked" in values:
                self.forms[-1]["fields"][values["name"]] = values.get("value", "")
        elif tag == "button" and self.forms and "name" in values:
            self.forms[-1]["buttons"].setdefault(values["name"], values.get("value", ""))
