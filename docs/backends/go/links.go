package main

import (
	"encoding/json"
	"regexp"
	"time"
)

// linkRequest has the parameters of Google's universal link and the user's decision.
type linkRequest struct {
	ClientID            string  `json:"client_id,omitempty"`
	RedirectURI         string  `json:"redirect_uri,omitempty"`
	State               string  `json:"state,omitempty"`
	Scope               string  `json:"scope,omitempty"`
	UserLocale          string  `json:"user_locale,omitempty"`
	AcceptLanguage      string  `json:"accept_language,omitempty"`
	CodeChallenge       string  `json:"code_challenge,omitempty"`
	CodeChallengeMethod string  `json:"code_challenge_method,omitempty"`
	Decision            *string `json:"decision,omitempty"`
	GrantedScopes       *string `json:"granted_scopes,omitempty"`

	// The proof of App Attest and the version of the app, which come with a decision.
	Attestation json.RawMessage `json:"attestation,omitempty"`
	AppVersion  string          `json:"app_version,omitempty"`
}

// linkCall is what siwa gets: the backend adds the account of the session.
type linkCall struct {
	linkRequest
	AccountID       string `json:"account_id,omitempty"`
	AuthenticatedAt string `json:"authenticated_at,omitempty"`
}

// account returns siwa's ID of the session's account, or "" for a user who has only a password, and the time
// of the sign-in with Apple that began the session. find is userOf, or sessionUser for disabled accounts too.
func (b *Backend) account(
	find func(string) (string, error), token string,
) (accountID, since string, err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	userID, err := find(token)
	return b.users[userID].accountID, b.sessions[hashed(token)].since, err
}

// GoogleLink returns what the app asks the user when there is no decision, and otherwise the URL to open. A link
// that cannot succeed has a URL to open in both cases.
func (b *Backend) GoogleLink(request appRequest, token string) (any, error) {
	var call linkCall
	if err := json.Unmarshal(request.content, &call.linkRequest); err != nil {
		return nil, Refused{400, "body_not_json"}
	}
	decision, path := "", "/v1/oauth/app-flip/prompt"
	if call.Decision != nil {
		decision, path = *call.Decision, "/v1/oauth/app-flip"
	} else {
		call.Attestation, call.AppVersion = nil, ""
	}
	// The account is that of the session, never one that the app names. A user who refuses need not be known.
	if decision == "granted" || (call.Decision == nil && token != "") {
		// About a disabled account siwa decides, which has the URL with which Google ends linking.
		accountID, since, err := b.account(b.sessionUser, token)
		if err != nil {
			return nil, err
		}
		if accountID == "" {
			return nil, Refused{409, "apple_account_missing"}
		}
		call.AccountID, call.AuthenticatedAt = accountID, since
	}
	var response any
	err := siwa("POST", path, call, &response, 12*time.Second)
	return response, err
}

// Links returns the clients that have access to the account, such as Google.
func (b *Backend) Links(_ appRequest, token string) (any, error) {
	accountID, _, err := b.account(b.userOf, token)
	if err != nil {
		return nil, err
	}
	response := struct{ Grants []any }{[]any{}}
	if accountID != "" {
		err = siwa("GET", "/v1/accounts/"+accountID+"/grants", nil, &response, 12*time.Second)
	}
	if is(err, "account_not_found") {
		err = nil
	}
	return map[string]any{"links": response.Grants}, err
}

var linkID = regexp.MustCompile("^grt_[0-9a-f-]{1,64}$")

// Unlink ends a link of the session's user. It is done, too, when an earlier attempt has ended it.
func (b *Backend) Unlink(request appRequest, token string) (any, error) {
	accountID, _, err := b.account(b.userOf, token)
	if err != nil {
		return nil, err
	}
	if !linkID.MatchString(request.link) { // the ID becomes a part of a path
		return nil, Refused{404, "not_found"}
	}
	if accountID != "" {
		err = siwa("DELETE", "/v1/accounts/"+accountID+"/grants/"+request.link, nil, nil, 12*time.Second)
	}
	if is(err, "grant_not_found") || is(err, "account_not_found") {
		err = nil
	}
	return struct{}{}, err
}
