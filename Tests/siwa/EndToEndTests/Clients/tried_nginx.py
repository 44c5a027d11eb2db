"""nginx before an API: `auth_request` asks userinfo whether the access token is good."""

import os
import urllib.parse

from relying import User, discovery, expect, given, metadata, withdraw_consent
from servers import first_answer, start, stop

import requests
from requests_oauthlib import OAuth2Session

web = given["clients"]["web"]
CONFIGURATION = """
daemon off; master_process off; pid nginx.pid; error_log error.log;
events {}
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    server {
        listen 127.0.0.1:PORT;
        location / {
            auth_request /token;
            root SITE;
        }
        location = /token {
            internal;
            proxy_pass USERINFO;
            proxy_method GET;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
            proxy_set_header Host HOST;
        }
    }
}
"""

user = User()
session = OAuth2Session(web["id"], redirect_uri=web["redirect_uri"], scope=["openid"], pkce="S256")
url, _ = session.authorization_url(metadata["authorization_endpoint"])
answer = user.authorize(url, web["redirect_uri"])
tokens = session.fetch_token(
    metadata["token_endpoint"], authorization_response=answer, client_secret=web["secret"]
)

os.makedirs("nginx/site")
with open("nginx/site/index.html", "w") as page:
    page.write("the API")
userinfo = urllib.parse.urlsplit(discovery["userinfo_endpoint"])
text = CONFIGURATION.replace("PORT", str(given["port"])).replace("USERINFO", discovery["userinfo_endpoint"])
text = text.replace("HOST", userinfo.netloc).replace("SITE", f"{os.getcwd()}/nginx/site")
with open("nginx/nginx.conf", "w") as file:
    file.write(text)
nginx = start([given["nginx"], "-p", f"{os.getcwd()}/nginx", "-c", "nginx.conf", "-e", "error.log"])


def call(token=None):
    fields = {"Authorization": f"Bearer {token}"} if token else {}
    return requests.get(f"http://127.0.0.1:{given['port']}/", headers=fields)


try:
    first_answer(nginx, call)
    expect(call(tokens["access_token"]).text == "the API", "a good token")
    for token in (None, "invented", tokens["id_token"], tokens["access_token"] + "A"):
        expect(call(token).status_code == 401, f"{call(token).status_code}")
    withdraw_consent(user)
    expect(call(tokens["access_token"]).status_code == 401, "an ended token")
finally:
    stop(nginx)
print("done")
