"""Ruby's openid_connect, in a program of its own; the user with the browser is here."""

import json
import os
import subprocess

from relying import ISSUER, User, expect, given

web = given["clients"]["web"]
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tried_openid_connect.rb")
ruby = subprocess.Popen(
    ["ruby", program, json.dumps({"issuer": ISSUER, "client": web})], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
url = ruby.stdout.readline().strip()
expect(url.startswith(ISSUER), f"no URL: {url}")
said, _ = ruby.communicate(User().authorize(url, web["redirect_uri"]) + "\n", timeout=60)
expect(ruby.returncode == 0 and said.strip() == "signed in", said)
print("done")
