package siwa

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// members are those of a form of an app. Their values stay the bytes of the app, so nothing is rounded or replaced.
type members map[string]json.RawMessage

// link has the parameters of Google's universal link.
var link = []string{"client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language", "code_challenge",
	"code_challenge_method"}

// membersOf returns nil for JSON that is not an object.
func membersOf(form []byte) members {
	var found members
	if json.Unmarshal(form, &found) != nil {
		return nil
	}
	return found
}

// given returns the members with these names that have a value.
func (m members) given(names ...string) members {
	found := members{}
	for _, name := range names {
		if value := string(m[name]); value != "" && value != "null" && value != `""` {
			found[name] = m[name]
		}
	}
	return found
}

// set and the following methods return the same members, for the next call.
func (m members) set(name string, value any) members {
	// Only texts, times, booleans, and lists and maps of them are set, whose encoding cannot fail.
	m[name], _ = json.Marshal(value)
	return m
}

func (m members) setTime(name string, moment time.Time) members {
	if moment.IsZero() {
		return m
	}
	return m.set(name, Time{moment})
}

func (m members) add(more members) members {
	for name, value := range more {
		m[name] = value
	}
	return m
}

func (m members) json() []byte {
	// The values were read from JSON, or come from set.
	data, _ := json.Marshal(m)
	return data
}

func (m members) text(name string) (string, bool) {
	var text *string
	if json.Unmarshal(m[name], &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}

// signInMembers returns the members of a sign-in, without the user.
//
// It accepts siwa's own names, those of expo-apple-authentication, react-native-apple-authentication, Flutter's
// sign_in_with_apple and the plugins of Capacitor and Unity, and those of Apple's script for web pages.
func signInMembers(form members, acceptsOwnNonce bool) (members, error) {
	found := form.given("nonce", "attestation", "app_version")
	found.take("identity_token", form, "identity_token", "identityToken", "id_token", "_base64IdentityToken",
		"IdentityToken")
	found.take("authorization_code", form, "authorization_code", "authorizationCode", "code",
		"_base64AuthorizationCode", "AuthorizationCode")
	if _, isText := found.text("identity_token"); !isText {
		return nil, refused("member_missing", http.StatusBadRequest, "The form needs the member identity_token, a text.")
	}
	// siwa limits only its own nonces to one sign-in. Without this check, a stolen token would pass together with the
	// digest that it contains.
	if nonce, _ := found.text("nonce"); !acceptsOwnNonce && !strings.HasPrefix(nonce, "siwa-nonce-") {
		return nil, refused("nonce_missing", http.StatusBadRequest, "The form needs the nonce that MakeNonce returned.")
	}
	return found, nil
}

// take sets name to the first value. Token and code have dots; in base64, as Swift and Unity write bytes, they have
// none.
func (m members) take(name string, form members, names ...string) {
	for _, candidate := range names {
		value, isGiven := form.given(candidate)[candidate]
		if !isGiven {
			continue
		}
		m[name] = value
		if text, _ := form.text(candidate); !strings.Contains(text, ".") {
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err == nil && strings.Contains(string(decoded), ".") && visibleASCII.Match(decoded) {
				m.set(name, string(decoded))
			}
		}
		return
	}
}

// userMembers returns the member user of a sign-in: Apple's object, or the parts of it that a library has put elsewhere.
func userMembers(form members) members {
	text, _ := form.text("user")
	// In most libraries user is Apple's user ID.
	if strings.HasPrefix(text, "{") || strings.HasPrefix(string(form["user"]), "{") {
		return members{"user": form["user"]}
	}
	parts := form.given("name", "fullName", "givenName", "familyName", "given_name", "family_name", "email",
		"_fullName", "_email", "FullName", "Email")
	if len(parts) == 0 {
		return parts
	}
	return members{}.set("user", parts)
}

// flattened returns the form with the members of the object in which Capacitor or Apple's script wraps the credential.
func flattened(form members) members {
	for _, wrapper := range []string{"response", "authorization"} {
		if inner := membersOf(form[wrapper]); inner != nil {
			outer := members{}.add(form)
			delete(outer, wrapper)
			form = inner.add(outer)
		}
	}
	return form
}
