package siwa

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// link has the parameters of Google's universal link.
var link = []string{"client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language", "code_challenge",
	"code_challenge_method"}

// given returns the members with these names that have a value.
func given(form members, names ...string) members {
	found := members{}
	for _, name := range names {
		if value := form[name]; value != nil && value != "" {
			found[name] = value
		}
	}
	return found
}

// merged returns the members of all objects. The last value of a name counts.
func merged(objects ...members) members {
	all := members{}
	for _, object := range objects {
		for name, value := range object {
			all[name] = value
		}
	}
	return all
}

// flattened returns the form with the members of the object in which Capacitor or Apple's script wraps the credential.
func flattened(form members) members {
	for _, wrapper := range []string{"response", "authorization"} {
		if inner, isObject := form[wrapper].(members); isObject {
			form = merged(inner, form)
		}
	}
	return form
}

// signInMembers returns the members of a sign-in, without the user.
//
// It accepts siwa's own names, those of expo-apple-authentication, react-native-apple-authentication, Flutter's
// sign_in_with_apple and the plugins of Capacitor and Unity, and those of Apple's script for web pages.
func signInMembers(form members, acceptsOwnNonces bool) (members, error) {
	form = flattened(form)
	found := given(merged(form, members{
		"identity_token": first(form, "identity_token", "identityToken", "id_token", "_base64IdentityToken", "IdentityToken"),
		"authorization_code": first(form, "authorization_code", "authorizationCode", "code", "_base64AuthorizationCode",
			"AuthorizationCode"),
	}), "identity_token", "authorization_code", "nonce", "attestation", "app_version")
	if _, isText := found["identity_token"].(string); !isText {
		return nil, refused("member_missing", http.StatusBadRequest, "The body must be a JSON object with the text identity_token.")
	}
	// siwa limits only its own nonces to one sign-in. Without this check, a stolen token would pass together with the
	// digest that it contains.
	if nonce, _ := found["nonce"].(string); !acceptsOwnNonces && !strings.HasPrefix(nonce, "siwa-nonce-") {
		return nil, refused("nonce_missing", http.StatusBadRequest, "The form needs the nonce that MakeNonce returned.")
	}
	return found, nil
}

// first returns the first value. Token and code have dots; in base64, as Swift and Unity write bytes, they have
// none.
func first(form members, names ...string) any {
	for _, name := range names {
		value := given(form, name)[name]
		text, isText := value.(string)
		data, err := base64.StdEncoding.DecodeString(text)
		switch {
		case isText && err == nil && strings.Contains(string(data), ".") && visibleASCII.Match(data):
			return string(data)
		case value != nil:
			return value
		}
	}
	return nil
}

// userMembers returns the member user of a sign-in: Apple's object, or the parts of it that a library has put elsewhere.
func userMembers(form members) members {
	form = flattened(form)
	user, isObject := form["user"].(members)
	// In most libraries user is Apple's user ID.
	if text, _ := form["user"].(string); isObject || strings.HasPrefix(text, "{") {
		return members{"user": form["user"]}
	}
	user = given(form, "name", "fullName", "givenName", "familyName", "given_name", "family_name", "email",
		"_fullName", "_email", "FullName", "Email")
	if len(user) == 0 {
		return nil
	}
	return members{"user": user}
}
