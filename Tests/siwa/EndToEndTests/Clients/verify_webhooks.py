"""Plays Fixtures/webhooks with the verifier of the Python backend: a line for each case, as the tests expect it."""

import calendar
import json
import pathlib
import sys
import time

fixtures, backend = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(backend))
import webhooks


def judge(case):
    body = "".join(part["text"] * part.get("times", 1) for part in case.get("body_parts", [])) or case.get("body", "")
    now = calendar.timegm(time.strptime(case["at"], "%Y-%m-%dT%H:%M:%SZ"))
    try:
        keys = webhooks.keys(case["secrets"])
    except ValueError:
        return "misconfigured"
    try:
        return "accepted " + webhooks.verify(case["headers"], body.encode(), keys, now)
    except webhooks.Refused as refused:
        return f"refused {refused.code}"


for file in sorted(fixtures.iterdir()):
    print(file.name, judge(json.loads(file.read_text())))
