"""A second reader of the OAuth cases. It derives what the recipe wrote down by other ways: openssl in the place of
hashlib, Python's form reader in the place of its writer, and a rule of its own for redirect URIs."""

import base64
import functools
import json
import re
import subprocess
from urllib.parse import parse_qs, parse_qsl, unquote_to_bytes

from oauth_outcomes import OutcomeReader

LOOPBACK = re.compile(r"http://(127\.0\.0\.1|\[::1\])(?::([1-9][0-9]{0,4}))?(/.*)?", re.DOTALL)
APP_FLIP = re.compile(r"https://oauth-redirect(-sandbox)?\.googleusercontent\.com/a/(.*)", re.DOTALL)
GOOGLE_APPS = {f"com.google.{app}{end}" for app in ("Chromecast", "OPA") for end in ("", ".dev", ".enterprise")}


@functools.lru_cache(maxsize=None)
def digest(text):
    """SHA-256 by openssl."""
    run = subprocess.run(["openssl", "dgst", "-sha256", "-binary"], input=text.encode(), capture_output=True, check=True)
    return run.stdout


def s256(verifier):
    standard = base64.b64encode(digest(verifier)).decode()
    return standard.replace("+", "-").replace("/", "_").rstrip("=")


def percent_encoded(text):
    """Byte by byte: RFC 3986 section 2.3."""
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in text.encode())


class Reader:
    def __init__(self, configuration, secrets):
        self.clients = {client["id"]: client for client in configuration["oauth"]["clients"]}
        self.optional_scopes = {
            scope["name"] for scope in configuration["oauth"]["scopes"] if scope.get("optional")}
        self.issuer = configuration["oauth"]["issuer"]
        self.secrets = secrets
        self.mistakes = []

    def expect(self, name, is_right, text):
        if not is_right:
            self.mistakes.append(f"{name}: {text}")

    def check_secrets(self):
        for client in self.clients.values():
            hashes = [digest(secret).hex() for secret in self.secrets.get(client["id"], [])]
            self.expect(client["id"], hashes == client.get("secret_hashes", []), "the hashes are not of the secrets")

    # Redirect URIs

    def app_flip_owners(self, uri):
        match = APP_FLIP.fullmatch(uri)
        flipping = [client for client in self.clients.values() if client.get("app_flip")]
        return [client["id"] for client in flipping
                if match and match[2] in GOOGLE_APPS | set(client.get("app_flip_bundle_ids", []))]

    def is_registered(self, client, uri):
        if client["kind"] == "google_linking":
            hosts = ["oauth-redirect", "oauth-redirect-sandbox"]
            own = [f"https://{host}.googleusercontent.com/r/{client['project_id']}" for host in hosts]
            return uri in own or client["id"] in self.app_flip_owners(uri)
        # A client that only exchanges identity tokens has none.
        if uri in client.get("redirect_uris", []):
            return True
        asked = LOOPBACK.fullmatch(uri)
        if not asked or (asked[2] and int(asked[2]) > 65535):
            return False
        for registered in client.get("redirect_uris", []):
            match = LOOPBACK.fullmatch(registered)
            if match and (match[1], match[3]) == (asked[1], asked[3]):
                return True
        return False

    # Authorization requests

    def check_authorization(self, name, case):
        request, expect = case["request"], case["expect"]
        text = request.get("query", request.get("form"))
        pairs = [pair.partition("=")[::2] for pair in text.split("&")]
        # Percent-decoding to bytes, because some are no UTF-8; a plus sign is a space.
        read = {}
        for key, value in pairs:
            read.setdefault(key, []).append(unquote_to_bytes(value.replace("+", " ")).decode("utf-8", "replace"))

        def only(key):
            values = [value for value in read.get(key, []) if value]
            return values[0] if len(values) == 1 else None

        uri, client = only("redirect_uri"), self.clients.get(only("client_id"))
        if "page" in expect and expect["page"]["error"] == "redirect_uri_mismatch":
            self.expect(name, client and not self.is_registered(client, uri), "the redirect URI is registered")
        if "page" in expect and expect["page"]["error"] == "invalid_client":
            self.expect(name, client is None, "the client is known")
        if "redirect" in expect:
            wanted = expect["redirect"]
            self.expect(name, wanted["uri"] == uri, "the redirect leads to another URI")
            trusted = self.app_flip_owners(uri) or (client and self.is_registered(client, uri))
            self.expect(name, trusted, "an open redirect")
            self.expect(name, wanted["iss"] == self.issuer, "another issuer")
            self.check_state(name, request, pairs, wanted.get("state"), is_optional=True)
        if "proceed" in expect:
            wanted = expect["proceed"]
            self.expect(name, client and wanted["client"] == client["id"], "another client")
            self.expect(name, wanted["redirect_uri"] == uri and self.is_registered(client, uri), "another redirect URI")
            scope = list(dict.fromkeys((only("scope") or " ".join(client["scopes"])).split(" ")))
            # Google's words leave openid out.
            if client.get("imply_openid") and "openid" not in scope and {"email", "profile"} & set(scope):
                scope = ["openid"] + scope
            self.expect(name, wanted["scope"].split(" ") == scope and set(scope) <= set(client["scopes"]), "another scope")
            self.check_state(name, request, pairs, wanted.get("state"))
            challenge, method = only("code_challenge"), only("code_challenge_method")
            self.expect(name, wanted.get("code_challenge") == challenge, "another challenge")
            self.expect(name, wanted.get("code_challenge_method") == (method or (challenge and "plain")), "another method")
            for key in ("nonce", "login_hint"):
                self.expect(name, wanted.get(key) == only(key), f"another {key}")
            ages = [age for age in (only("max_age"), client.get("max_authentication_age")) if age is not None]
            self.expect(name, wanted.get("max_age") == min(map(int, ages), default=None), "another max_age")
            self.expect(name, wanted.get("prompt", []) == sorted((only("prompt") or "").split()), "another prompt")

    def check_state(self, name, request, pairs, wanted, is_optional=False):
        states = [value for key, value in pairs if key == "state" and value]
        sent = states[0] if len(states) == 1 else None
        if sent is not None and request["method"] == "POST":
            sent = sent.replace("+", "%20")
        # One that is too long is not sent back.
        if is_optional and sent is not None and len(sent) > 4096:
            sent = None
        self.expect(name, wanted == sent, "the state is not what was sent, byte for byte")

    # Token requests

    def check_token(self, name, case):
        request, expect, given = case["request"], case["expect"], case.get("given", {})
        parameters = parse_qs(request["body"])
        client, secret = self.credentials(request, parameters)
        if "grant" in expect:
            grant = expect["grant"]
            self.expect(name, grant["client"] == client, "another client")
            secrets = self.secrets.get(client)
            self.expect(name, secret in secrets if secrets else not secret, "the secret is not the client's")
            for key in ("redirect_uri", "code_verifier", "intent"):
                self.expect(name, [grant[key]] == parameters.get(key) if key in grant else key not in parameters,
                            f"another {key}")
            self.expect(name, parameters["grant_type"][0].endswith(grant["type"]), "another grant")
        if "code_challenge" in given:
            verifier = given.get("code_verifier", parameters.get("code_verifier", [""])[0])
            derived = s256(verifier) if given["code_challenge_method"] == "S256" else verifier
            fits = derived == given["code_challenge"]
            self.expect(name, fits or "code_verifier" not in given, "the verifier does not fit the challenge")
            self.expect(name, fits or expect["status"] != 200, "tokens for a verifier that does not fit")
        if expect.get("status") == 200 and "tokens" in expect and "client" in given:
            self.expect(name, given["client"] == client, "tokens for another client's code")
            self.expect(name, "id_token" not in expect["tokens"] or "openid" in expect["scope"].split(" "),
                        "an ID token without openid")
            narrower = parameters.get("scope", [given["scope"]])[0] if "refresh_token" in given else given["scope"]
            self.expect(name, expect["scope"] == narrower, "another scope")
            self.expect(name, set(narrower.split(" ")) <= set(given["scope"].split(" ")), "more than was granted")

    def credentials(self, request, parameters):
        scheme, _, value = request.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            try:
                client, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
            except ValueError:
                return None, None
            read = dict(parse_qsl(f"client={client}&secret={secret}"))
            return read.get("client"), read.get("secret")
        return parameters.get("client_id", [None])[0], parameters.get("client_secret", [None])[0]

    # The other endpoints

    def check_client(self, name, case):
        """Returns who asks: a client ID, or `None` with an API key."""
        request, expect = case["request"], case["expect"]
        if request["method"] == "GET" or "api_key" in request or expect["status"] == 400:
            return None
        client, secret = self.credentials(request, parse_qs(request["body"]))
        secrets = self.secrets.get(client)
        is_right = client in self.clients and (secret in secrets if secrets else not secret)
        # Only confidential clients introspect.
        is_right = is_right and (secrets is not None or request["path"] != "/oauth/introspect")
        self.expect(name, is_right == (expect["status"] == 200), "the client is judged otherwise")
        return client

    def check_revocation(self, name, case):
        client, given, expect = self.check_client(name, case), case.get("given", {}), case["expect"]
        tokens = expect.get("afterwards", {}).get("tokens")
        self.expect(name, (tokens is None) == ("client" not in given), "what becomes of the tokens is not said")
        if tokens == "ended":
            self.expect(name, expect["status"] == 200 and given["client"] == client, "another client's tokens end")

    def check_introspection(self, name, case):
        client, given, expect = self.check_client(name, case), case.get("given", {}), case["expect"]
        self.expect(name, ("members" in expect) == (expect["status"] == 200), "members and status differ")
        if "members" not in expect:
            return
        members, key = expect["members"], case["request"].get("api_key")
        if not members["active"]:
            self.expect(name, members == {"active": False}, "an inactive token is told about")
            return
        owner = self.clients[given["client"]]
        self.expect(name, owner["id"] == client or key in ("all", owner["app"]), "the caller may not see it")
        self.expect(name, not {"credential", "account"} & given.keys(), "the token has ended")
        self.expect(name, members["scope"] == given["scope"] and members["client_id"] == owner["id"], "another grant")
        is_access_token = "{access_token}" in case["request"]["body"]
        self.expect(name, ("token_type" in members) == is_access_token, "another kind of token")
        if is_access_token:
            self.expect(name, members["aud"] == owner.get("audience", self.issuer), "another audience")

    def check_userinfo(self, name, case):
        given, expect = case.get("given", {}), case["expect"]
        scope = given.get("scope", "openid").split(" ")
        self.expect(name, ("openid" in scope) == (expect["status"] != 403), "the scope is judged otherwise")
        self.expect(name, ("www_authenticate" in expect) == (expect["status"] != 200), "the challenge (RFC 6750)")
        if expect["status"] != 200:
            error = expect["www_authenticate"].get("error")
            said = expect.get("error") if error else expect.get("members")
            self.expect(name, said == (error or {}), "body and challenge differ (RFC 6750 section 3.1)")
        if expect["status"] == 200:
            self.expect(name, "sub" in expect["members"], "sub is required")
            self.expect(name, ("email" in expect["members"]) == ("email" in scope), "an address beyond the scope")

    def check_metadata(self, name, case):
        members = case["expect"]["members"]
        if "keys" in members:
            for key in members["keys"]:
                self.expect(name, key["use"] == "sig" and not {"d", "p", "q", "dp", "dq", "qi", "k"} & key.keys(), "a key")
            return
        self.expect(name, members["issuer"] == self.issuer, "another issuer")
        urls = [value for key, value in members.items() if key.endswith(("_endpoint", "_uri"))]
        self.expect(name, all(url.startswith(self.issuer + "/") for url in urls), "a foreign URL")
        if "scopes_supported" in members:
            clients = self.clients.values()
            scopes = {scope for client in clients for scope in client["scopes"]}
            self.expect(name, scopes <= set(members["scopes_supported"]), "a client's scope is not named")
            plain = any(client.get("allow_plain_pkce") for client in clients)
            self.expect(name, ("plain" in members["code_challenge_methods_supported"]) == plain, "plain")
            # RFC 8414 section 2 and OpenID Connect Discovery section 3.
            required = {"authorization_endpoint", "token_endpoint", "jwks_uri", "response_types_supported",
                        "subject_types_supported", "id_token_signing_alg_values_supported"}
            self.expect(name, required <= members.keys(), "a required member is missing")

    # App Flip

    def check_app_flip(self, name, case):
        call, expect = case["call"], case["expect"]
        owners = self.app_flip_owners(call.get("redirect_uri", ""))
        self.expect(name, bool(owners) == (expect.get("code") != "redirect_uri_mismatch"), "the URI is judged otherwise")
        if "redirect" not in expect:
            return
        redirect = expect["redirect"]
        self.expect(name, redirect["uri"] == call["redirect_uri"], "the redirect leads to another URI")
        state = call.get("state") or None
        if state is not None and len(state.encode()) > 4096:
            state = None
        self.expect(name, redirect.get("state") == (state and percent_encoded(state)), "another state")
        self.expect(name, expect["outcome"] == redirect.get("error", "code"), "outcome and error differ")
        if expect["outcome"] == "code":
            self.expect(name, call["client_id"] in owners, "a code for a client without App Flip")
            asked = call.get("scope") or " ".join(self.clients[call["client_id"]]["scopes"])
            self.expect(name, expect["scope"] == call.get("granted_scopes", asked), "another scope")
            challenge = call.get("code_challenge") or None
            self.expect(name, challenge is None or challenge == s256(VERIFIER_OF_RFC_7636), "another challenge")

    def check_app_flip_prompt(self, name, case):
        call, expect = case["call"], case["expect"]
        owners = self.app_flip_owners(call.get("redirect_uri", ""))
        is_mismatch = expect.get("code") == "redirect_uri_mismatch"
        self.expect(name, bool(owners) != is_mismatch, "the URI is judged otherwise")
        if "redirect" in expect:
            self.check_app_flip(name, case)
        if "prompt" not in expect:
            return
        self.expect(name, call["client_id"] in owners, "a prompt for a client without App Flip")
        asked = call.get("scope") or " ".join(self.clients[call["client_id"]]["scopes"])
        self.expect(name, expect["prompt"]["scope"] == asked, "another scope")
        left_out = [scope for scope in asked.split(" ") if scope in self.optional_scopes]
        self.expect(name, expect["prompt"].get("optional", "").split() == left_out, "other optional scopes")


# RFC 7636, appendix B, as the octets that it lists.
VERIFIER_OF_RFC_7636 = base64.urlsafe_b64encode(bytes([
    116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240, 91, 88,
    5, 88, 83, 132, 141, 121])).rstrip(b"=").decode()


def mistakes(folders):
    """- folders: the documents of each folder, by their names."""
    configuration = folders["configuration"]
    reader = Reader(configuration["standard"], configuration["secrets"])
    reader.check_secrets()
    reader.expect("RFC 7636", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" == VERIFIER_OF_RFC_7636, "the verifier")
    outcomes = OutcomeReader(configuration["standard"], reader.expect)
    checks = {"authorization": (outcomes.check_authorization, reader.check_authorization),
              "token": (outcomes.check_token, reader.check_token),
              "app-flip": (outcomes.check_app_flip, reader.check_app_flip),
              "app-flip-prompt": (outcomes.check_app_flip_prompt, reader.check_app_flip_prompt),
              "revocation": (outcomes.check_endpoint, reader.check_revocation),
              "introspection": (outcomes.check_endpoint, reader.check_introspection),
              "userinfo": (outcomes.check_endpoint, reader.check_userinfo),
              "metadata": (outcomes.check_endpoint, reader.check_metadata)}
    for folder, both in checks.items():
        for name, case in folders[folder].items():
            for check in both:
                # As a file has it.
                check(f"oauth/{folder}/{name}", json.loads(json.dumps(case)))
    return reader.mistakes
