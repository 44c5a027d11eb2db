"""Apache with mod_auth_openidc: `OIDCPKCEMethod S256`."""

import os
import urllib.parse

from relying import ISSUER, User, expect, given, is_missing, without_pkce
from servers import first_answer, start, stop

import requests

web = given["clients"]["web"]
SITE = f"http://localhost:{given['port']}"
REDIRECT_URI = f"{SITE}{urllib.parse.urlsplit(web['redirect_uri']).path}"
MODULES = "/usr/lib/apache2/modules"


def configuration(client, folder, pkce):
    modules = ["mpm_event", "authn_core", "authz_core", "authz_user", "dir", "auth_openidc"]
    return "\n".join(
        [f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in modules]
        + [
            f"ServerName localhost\nListen 127.0.0.1:{given['port']}\nPidFile {folder}/pid\nErrorLog {folder}/error.log",
            f"DefaultRuntimeDir {folder}\nMutex file:{folder} default\nDocumentRoot {folder}/site\nDirectoryIndex index.html",
            f"OIDCProviderMetadataURL {ISSUER}/.well-known/openid-configuration",
            f'OIDCClientID {client["id"]}\nOIDCClientSecret "{client["secret"]}"\nOIDCRedirectURI {REDIRECT_URI}',
            'OIDCCryptoPassphrase "for this test only"\nOIDCScope "openid email"',
            "OIDCPKCEMethod S256" if pkce else "",
            "<Location />\nAuthType openid-connect\nRequire valid-user\n</Location>\n",
        ]
    )


def sign_in(client, pkce):
    folder = f"{os.getcwd()}/apache-{client['id']}-{pkce}"
    os.makedirs(f"{folder}/site")
    os.chmod(folder, 0o777)
    with open(f"{folder}/site/index.html", "w") as page:
        page.write("the site")
    with open(f"{folder}/apache.conf", "w") as file:
        file.write(configuration(client, folder, pkce))
    apache = start(["/usr/sbin/apache2", "-f", f"{folder}/apache.conf", "-DFOREGROUND"])
    browser = requests.Session()
    try:
        page = {"headers": {"Accept": "text/html"}, "allow_redirects": False}
        departure = first_answer(apache, lambda: browser.get(f"{SITE}/", **page))
        expect(departure.status_code == 302, f"{departure.status_code} {departure.text}")
        answer = User().authorize(departure.headers["Location"], REDIRECT_URI)
        return answer, browser.get(answer, headers={"Accept": "text/html"})
    finally:
        stop(apache)


answer, arrival = sign_in(web, pkce=True)
expect(arrival.status_code == 200 and arrival.text == "the site", f"{arrival.status_code} {arrival.text}")
answer, arrival = sign_in(web, pkce=False)
is_missing("code challenge", answer)
expect(arrival.text != "the site", "nobody is signed in")
# It sends a nonce, and compares it with the one of the ID token.
answer, arrival = sign_in(without_pkce, pkce=False)
expect(arrival.status_code == 200 and arrival.text == "the site", f"{arrival.status_code} {arrival.text}")
print("done")
