"""The JSON that apps send to their backend, in the forms of the usual libraries."""

import base64
import binascii
import json
from typing import Any, Dict, Mapping

from .errors import SiwaError

LINK = ("client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language", "code_challenge",
        "code_challenge_method")
"""The parameters of Google's universal link."""


def given(form: Any, *names: str) -> Dict[str, Any]:
    """The members with these names that have a value."""
    return {name: form[name] for name in names if isinstance(form, Mapping) and form.get(name) not in (None, "")}


def sign_in_members(form: Any, minted_nonce: bool) -> Dict[str, Any]:
    """The members of a sign-in, without the user. Raises SiwaError `member_missing` or `nonce_missing`.

    Accepts siwa's own names, those of expo-apple-authentication, react-native-apple-authentication, Flutter's
    sign_in_with_apple and the plugins of Capacitor and Unity, and those of Apple's script for web pages.
    """
    form = flattened(form)
    members = {
        "identity_token": _text(form, "identity_token", "identityToken", "id_token", "_base64IdentityToken",
                                "IdentityToken"),
        "authorization_code": _text(form, "authorization_code", "authorizationCode", "code", "_base64AuthorizationCode",
                                    "AuthorizationCode"),
        **given(form, "nonce", "attestation", "app_version"),
    }
    if not isinstance(members["identity_token"], str):
        raise SiwaError("member_missing", 400, "The form needs the member identity_token, a text.")
    # siwa limits only its own nonces to one sign-in. Without this check, a stolen token would pass together with the
    # digest that it contains.
    if minted_nonce and not str(members.get("nonce")).startswith("siwa-nonce-"):
        raise SiwaError("nonce_missing", 400, "The form needs the nonce that make_nonce returned.")
    return given(members, *members)


def user_members(form: Any) -> Dict[str, Any]:
    """The member `user` of a sign-in: Apple's object, or the parts of it that a library has put elsewhere."""
    form = flattened(form)
    user = form.get("user")
    # In most libraries `user` is Apple's user ID.
    if isinstance(user, Mapping) or (isinstance(user, str) and user.startswith("{")):
        return {"user": user}
    parts = given(form, "name", "fullName", "givenName", "familyName", "given_name", "family_name", "email", "_fullName",
                  "_email", "FullName", "Email")
    return {"user": parts} if parts else {}


def flattened(form: Any) -> Dict[str, Any]:
    """The form with the members of the object in which Capacitor or Apple's script wraps the credential."""
    form = form if isinstance(form, Mapping) else {}
    for wrapper in ("response", "authorization"):
        if isinstance(form.get(wrapper), Mapping):
            form = {**form[wrapper], **{name: value for name, value in form.items() if name != wrapper}}
    return dict(form)


def _text(form: Mapping[str, Any], *names: str) -> Any:
    """The first value. Token and code have dots; in base64, as Swift and Unity write bytes, they have none."""
    value = next(iter(given(form, *names).values()), None)
    if isinstance(value, str) and "." not in value:
        try:
            text = base64.b64decode(value, validate=True).decode("ascii")
            return text if "." in text else value
        except (binascii.Error, ValueError):
            return value
    return value


def json_bytes(members: Mapping[str, Any]) -> bytes:
    """ASCII with escapes, so that a half of a surrogate pair in an app's form cannot make the encoding fail."""
    return json.dumps(members, separators=(",", ":")).encode()
