// The life of a person in a backend, against siwa and its fakes: the program that SIWA_BINARY names, or that of
// `swift build`, and siwa-dev beside it.
package siwa_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	siwa "example.com/siwa"
)

const app = "com.example.app"

var ctx = context.Background()

func binary(name string) string {
	path := os.Getenv("SIWA_BINARY")
	if path == "" {
		path = "../../.build/debug/siwa"
	}
	return filepath.Join(filepath.Dir(path), name)
}

// freePorts returns ports at which nothing listens. Those that the kernel chooses could go to another program before
// ours starts.
func freePorts(count int) (ports []int) {
	random := mathrand.New(mathrand.NewSource(time.Now().UnixNano()))
	for len(ports) < count {
		port := 10_000 + random.Intn(22_000)
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			listener.Close()
			ports = append(ports, port)
		}
	}
	return ports
}

// program is a process that serves HTTP.
type program struct {
	t         *testing.T
	arguments []string
	readyURL  string
	variables []string
	command   *exec.Cmd
}

func startProgram(t *testing.T, arguments []string, readyURL string, variables []string) *program {
	p := &program{t: t, arguments: arguments, readyURL: readyURL, variables: variables}
	p.start()
	t.Cleanup(func() { p.stop(syscall.SIGTERM) })
	return p
}

func (p *program) start() {
	output := &bytes.Buffer{}
	p.command = exec.Command(p.arguments[0], p.arguments[1:]...)
	p.command.Env, p.command.Stdout, p.command.Stderr = p.variables, output, output
	if err := p.command.Start(); err != nil {
		p.t.Fatalf("%v: set SIWA_BINARY to siwa, with siwa-dev beside it", err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if response, err := http.Get(p.readyURL); err == nil {
			response.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			p.stop(syscall.SIGKILL)
			p.t.Fatalf("%s did not start: %s", p.arguments[0], output)
		}
	}
}

func (p *program) stop(how syscall.Signal) {
	_ = p.command.Process.Signal(how)
	_ = p.command.Process.Signal(syscall.SIGCONT)
	_ = p.command.Wait()
}

type object = map[string]any

// post calls a fake, and returns its JSON.
func post(t *testing.T, target, contentType, body string) (result object) {
	t.Helper()
	response, err := http.Post(target, contentType, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body)
	if response.StatusCode >= 300 || json.Unmarshal(data, &result) != nil {
		t.Fatalf("%s: %s %s", target, response.Status, data)
	}
	return result
}

func encoded(members object) string {
	data, _ := json.Marshal(members)
	return string(data)
}

// apple is the fake Apple.
type apple struct {
	t   *testing.T
	url string
}

func (a apple) post(path string, members object) object {
	a.t.Helper()
	return post(a.t, a.url+path, "application/json", encoded(members))
}

func (a apple) person(members object) string {
	return a.post("/users", members)["sub"].(string)
}

// signIn returns what the app posts to its backend after a sign-in on the iPhone.
func (a apple) signIn(sub string, nonce *siwa.Nonce) object {
	a.t.Helper()
	form := a.post("/identity-tokens?format=sign-in", object{"sub": sub, "code": true, "nonce": nonce.NonceSHA256})
	form["nonce"] = nonce.Nonce
	return form
}

func (a apple) revokeConsent(sub string) {
	a.post("/users/"+sub+"/revoke-consent", object{})
}

// development is `siwa dev`: the service, the fake Apple, the fake Google.
type development struct {
	url, google string
	apple       apple
	program     *program
}

func startDevelopment(t *testing.T) development {
	ports := freePorts(4)
	at := func(index int) string { return fmt.Sprintf("http://127.0.0.1:%d", ports[index]) }
	return development{at(0), at(2) + "/control", apple{t, at(1) + "/emulator"}, startProgram(t, []string{
		binary("siwa-dev"), "dev", "--port", fmt.Sprint(ports[0]), "--emulator-port", fmt.Sprint(ports[1]),
		"--google-port", fmt.Sprint(ports[2]), "--receiver-port", fmt.Sprint(ports[3]),
		"--database", "sqlite://" + t.TempDir() + "/dev.sqlite"}, at(0)+"/readyz", nil)}
}

func (d development) client(t *testing.T, options siwa.Options) *siwa.Client {
	options.URL, options.APIKey, options.ClientID = d.url, "siwa_development", app
	options.Warn = func(message string) { t.Log(message) }
	client, err := siwa.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// must returns the result of a call that must succeed.
func must[Result any](result Result, err error) Result {
	if err != nil {
		panic(err)
	}
	return result
}

func check(t *testing.T, isTrue bool, what string, values ...any) {
	t.Helper()
	if !isTrue {
		t.Fatalf(what+" %v", values)
	}
}

// refusal checks the code of an error, and returns the error.
func refusal(t *testing.T, err error, codes ...string) *siwa.Error {
	t.Helper()
	var failure *siwa.Error
	if errors.As(err, &failure) {
		for _, code := range codes {
			if failure.Code == code {
				return failure
			}
		}
	}
	t.Fatalf("expected %v, found %v", codes, err)
	return nil
}

// backend has sessions, which events end. Its tables are maps.
type backend struct {
	client   *siwa.Client
	feed     *siwa.Events
	mutex    sync.Mutex
	sessions map[string]time.Time
	events   []string
	failure  error
}

func startBackend(t *testing.T, client *siwa.Client) *backend {
	b := &backend{client: client, sessions: map[string]time.Time{}}
	b.feed = client.Events(siwa.FileCursor(filepath.Join(t.TempDir(), "cursor")))
	b.feed.Wait = 2 * time.Second
	b.feed.Resync = func(context.Context) error {
		b.note("resync")
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.feed.Run(ctx, b.handle); ctx.Err() == nil {
			b.mutex.Lock()
			defer b.mutex.Unlock()
			b.failure = err
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return b
}

func (b *backend) note(event string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.events = append(b.events, event)
}

func (b *backend) handle(_ context.Context, event siwa.Event) error {
	b.note(event.Type)
	if event.Type == siwa.EventTypeCredentialRevoked || event.Type == siwa.EventTypeSessionsEnded {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		if since, isThere := b.sessions[event.AccountID]; isThere && !since.After(event.OccurredAt.Time) {
			delete(b.sessions, event.AccountID)
		}
	}
	return nil
}

func (b *backend) signIn(form object) *siwa.SignInOutcome {
	outcome := must(b.client.SignIn(ctx, []byte(encoded(form))))
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.sessions[outcome.Account.ID] = outcome.Credential.Since.Time
	return outcome
}

// until waits for a condition on the tables.
func (b *backend) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	until(t, what, func() bool {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		return condition()
	})
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(50 * time.Millisecond) {
		check(t, time.Now().Before(deadline), "within a minute there was not: "+what)
	}
}

func (b *backend) count(event string) (count int) {
	for _, found := range b.events {
		if found == event {
			count++
		}
	}
	return count
}

// TestStories plays all stories with one siwa, because a start costs more than a story.
func TestStories(t *testing.T) {
	siwaDev := startDevelopment(t)
	for _, story := range []struct {
		name string
		play func(*testing.T, development)
	}{
		{"a person's life", personsLife}, {"tokens and links", tokensAndLinks}, {"forms of libraries", formsOfLibraries},
		{"the program of README.md", readme}, {"siwa stops and returns", siwaStopsAndReturns},
	} {
		t.Run(story.name, func(t *testing.T) {
			siwaDev.apple.t, siwaDev.program.t = t, t
			story.play(t, siwaDev)
		})
	}
}

func personsLife(t *testing.T, siwaDev development) {
	t.Setenv("SIWA_URL", siwaDev.url)
	t.Setenv("SIWA_API_KEY", "siwa_development")
	t.Setenv("SIWA_CLIENT_ID", app)
	client, apple := must(siwa.NewClient(siwa.Options{})), siwaDev.apple
	backend := startBackend(t, client)
	until(t, "a position", func() bool { return backend.feed.Check() == nil })
	check(t, backend.feed.Position().Cursor != "" && client.Check(ctx) == nil, "start")
	refusal(t, client.ForApp("com.example.other").Check(ctx), "client_id_unknown")

	// The first sign-in, on the iPhone. The nonce is good for one sign-in.
	ada := apple.person(object{"first_name": "Ada", "last_name": "King", "hide_email": true})
	form := apple.signIn(ada, must(client.MakeNonce(ctx)))
	outcome := backend.signIn(form)
	id := outcome.Account.ID
	check(t, outcome.IsNewAccount && outcome.Account.FirstName == "Ada" && *outcome.Account.IsPrivateEmail, "account", outcome)
	_, err := client.SignIn(ctx, []byte(encoded(form)))
	failure := refusal(t, err, "nonce_used")
	status, _ := failure.ForApp()
	check(t, failure.Status == 401 && status == 401 && failure.RequestID != "", "refusal", failure)
	check(t, must(client.State(ctx, ada)).State == siwa.CredentialStateAuthorized, "state")
	states := must(client.States(ctx, []string{ada, "stranger"}))
	check(t, states[0].State == siwa.CredentialStateAuthorized && states[1].State == siwa.CredentialStateNotFound, "states", states)
	check(t, must(client.Account(ctx, id)).Sub == ada && must(client.AccountOf(ctx, ada)).ID == id, "account")
	page := must(client.FindAccounts(ctx, siwa.Search{Name: "Ada King"}))
	check(t, len(page.Accounts) == 1 && page.Accounts[0].ID == id, "search", page)
	identity := must(client.Verify(ctx, []byte(encoded(apple.signIn(ada, must(client.MakeNonce(ctx)))))))
	check(t, identity.Identity.Sub == ada, "identity", identity)

	// She stops using the app: the event ends her session.
	apple.revokeConsent(ada)
	backend.until(t, "the end of the session", func() bool { return len(backend.sessions) == 0 })
	check(t, must(client.State(ctx, ada)).State == siwa.CredentialStateRevoked, "state")

	// She returns. Apple's times have whole seconds, and the new authorization must be later.
	time.Sleep(2 * time.Second)
	again := backend.signIn(apple.signIn(ada, must(client.MakeNonce(ctx))))
	check(t, again.Account.ID == id && !again.IsNewAccount, "account", again)

	// Her account is disabled and enabled. Then she is signed out everywhere.
	account := must(client.Disable(ctx, id, siwa.DisablingReasonSecurity, time.Now().Add(time.Hour)))
	check(t, account.Disabled.Reason == "security" && account.Disabled.Until != nil, "disabled", account)
	_, err = client.SignIn(ctx, []byte(encoded(apple.signIn(ada, must(client.MakeNonce(ctx))))))
	status, members := refusal(t, err, "account_disabled").ForApp()
	check(t, status == 403 && members["error"] == "account_disabled", "for the app", members)
	check(t, must(client.Enable(ctx, id)).Disabled == nil, "enabled")
	check(t, must(client.SignOut(ctx, id)).SessionsEndedAt != nil, "signed out")
	backend.until(t, "the end of the session", func() bool { return len(backend.sessions) == 0 })

	// She deletes her account.
	erasure := must(client.Delete(ctx, id))
	until(t, "the completed erasure", func() bool {
		return must(client.Erasure(ctx, erasure.ID)).State == siwa.ErasureStateCompleted
	})
	check(t, must(client.Delete(ctx, id)).ID == erasure.ID && !erasure.UserMustRevoke, "erasure", erasure)
	_, err = client.Account(ctx, id)
	refusal(t, err, "account_not_found")
	backend.until(t, "the last event", func() bool { return backend.count(siwa.EventTypeAccountErased) == 1 })
	check(t, backend.failure == nil && reflect.DeepEqual(backend.events, []string{
		"resync", "account_created", "credential_authorized", "credential_revoked", "credential_authorized",
		"account_disabled", "account_enabled", "sessions_ended", "credential_revoked", "account_erased",
	}), "events", backend.events, backend.failure)
	err = must(siwa.NewClient(siwa.Options{APIKey: "other"})).Check(ctx)
	status, _ = refusal(t, err, "caller_unauthenticated").ForApp()
	check(t, status == 500, "for the app", status)
}

func tokensAndLinks(t *testing.T, siwaDev development) {
	client, apple := siwaDev.client(t, siwa.Options{}), siwaDev.apple
	ada := apple.person(object{"first_name": "Ada"})
	outcome := must(client.SignIn(ctx, []byte(encoded(apple.signIn(ada, must(client.MakeNonce(ctx)))))))
	id := outcome.Account.ID

	// Her phone exchanges an identity token for an access token (RFC 8693).
	form := apple.signIn(ada, must(client.MakeNonce(ctx)))
	tokens := post(t, siwaDev.url+"/oauth/token", "application/x-www-form-urlencoded", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "client_id": {"siwa-phone"},
		"scope": {"openid email"}, "subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"},
		"subject_token": {form["identity_token"].(string)}, "nonce": {form["nonce"].(string)},
	}.Encode())
	bearer := "Bearer " + tokens["access_token"].(string)
	token := must(client.VerifyToken(ctx, bearer, siwaDev.url, "email"))
	asked := must(client.Introspect(ctx, bearer, siwaDev.url, "email"))
	check(t, token.Sub == id && reflect.DeepEqual(token, asked), "token", token, asked)
	_, err := client.VerifyToken(ctx, bearer, "https://other", "email")
	refusal(t, err, "audience_mismatch")
	_, err = client.VerifyToken(ctx, "Bearer "+tokens["id_token"].(string), siwaDev.url)
	refusal(t, err, "not_an_access_token")
	_, err = client.Introspect(ctx, "Bearer "+tokens["refresh_token"].(string), siwaDev.url)
	refusal(t, err, "token_inactive")

	// An API behind the middleware.
	show := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, siwa.TokenOf(r.Context()).Sub) })
	for _, request := range []struct {
		scope, bearer, challenge, body string
		status                         int
	}{
		{"email", bearer, "", id, 200},
		{"email", "", "Bearer", `{"error":"token_missing"}` + "\n", 401},
		{"email", bearer + "x", `Bearer error="invalid_token"`, `{"error":"token_malformed"}` + "\n", 401},
		{"admin", bearer, `Bearer error="insufficient_scope", scope="admin"`, `{"error":"scope_missing"}` + "\n", 403},
	} {
		message, recorder := httptest.NewRequest("GET", "/me", nil), httptest.NewRecorder()
		message.Header.Set("Authorization", request.bearer)
		client.RequireToken(show, siwaDev.url, request.scope).ServeHTTP(recorder, message)
		check(t, recorder.Code == request.status && recorder.Body.String() == request.body &&
			recorder.Header().Get("WWW-Authenticate") == request.challenge, "response", recorder, request)
	}

	// Her phone attests a key.
	registration := apple.post("/app-attest/keys?format=registration",
		object{"challenge": must(client.MakeChallenge(ctx, "attestation")).Challenge})
	check(t, must(client.RegisterKey(ctx, []byte(encoded(registration)))).IsNewKey, "key")
	registration["key_id"] = base64.StdEncoding.EncodeToString(make([]byte, 32))
	_, err = client.RegisterKey(ctx, []byte(encoded(registration)))
	status, members := refusal(t, err, "attestation_invalid").ForApp()
	check(t, status == 401 && members["cause"] != nil && members["re_attest"] != nil, "for the app", members)

	// She links her Google account by App Flip, and ends the link in the app.
	opened := must(url.Parse(post(t, siwaDev.google+"/link", "application/json", `{"mode":"app_flip"}`)["url"].(string)))
	link := object{}
	for name, values := range opened.Query() {
		link[name] = values[0]
	}
	session := siwa.Session{AccountID: id, AuthenticatedAt: outcome.Credential.Since.Time}
	prompt := must(client.AppFlipPrompt(ctx, []byte(encoded(link)), session))
	check(t, prompt.Prompt != nil && prompt.Prompt.Account.Title != "", "prompt", prompt)
	link["decision"] = "granted"
	check(t, must(client.AppFlip(ctx, []byte(encoded(link)), session)).Outcome == "code", "answer")
	ended := 0
	for _, grant := range must(client.Grants(ctx, id)) {
		if grant.ClientID == "google" {
			ended++
			check(t, client.EndGrant(ctx, id, grant.ID) == nil, "end")
			refusal(t, client.EndGrant(ctx, id, grant.ID), "grant_not_found")
		}
	}
	check(t, ended == 1, "grants of Google", ended)

	// After a withdrawn consent siwa knows at once. A verified token stays good until it expires.
	apple.revokeConsent(ada)
	until(t, "the revoked state", func() bool {
		return must(client.State(ctx, ada)).State == siwa.CredentialStateRevoked
	})
	_, err = client.Introspect(ctx, bearer, siwaDev.url)
	refusal(t, err, "token_inactive")
	check(t, must(client.VerifyToken(ctx, bearer, siwaDev.url)).Sub == id, "verified token")
}

func formsOfLibraries(t *testing.T, siwaDev development) {
	client := siwaDev.client(t, siwa.Options{})
	for _, form := range []object{
		{"fullName": object{"givenName": "Ada", "familyName": "Lovelace", "middleName": nil}, "user": "sub"},
		{"givenName": "Ada", "familyName": "Lovelace", "userIdentifier": "sub", "email": nil},
		{"response": object{"givenName": "Ada", "familyName": "Lovelace", "user": "sub"}},
	} {
		nonce := must(client.MakeNonce(ctx))
		posted := siwaDev.apple.signIn(siwaDev.apple.person(object{"first_name": "X"}), nonce)
		form["identityToken"], form["authorizationCode"] = posted["identity_token"], posted["authorization_code"]
		form["nonce"] = nonce.Nonce
		account := must(client.SignIn(ctx, []byte(encoded(form)))).Account
		check(t, account.FirstName == "Ada" && account.LastName == "Lovelace", "name", account, form)
	}
}

func siwaStopsAndReturns(t *testing.T, siwaDev development) {
	client, hasty := siwaDev.client(t, siwa.Options{}), siwaDev.client(t, siwa.Options{Timeout: time.Second, Attempts: 1})
	backend := startBackend(t, client)
	ada := siwaDev.apple.person(object{})
	backend.signIn(siwaDev.apple.signIn(ada, must(client.MakeNonce(ctx))))
	backend.until(t, "the sign-in", func() bool { return backend.count(siwa.EventTypeCredentialAuthorized) == 1 })

	process := siwaDev.program.command.Process
	check(t, process.Signal(syscall.SIGSTOP) == nil, "stop")
	// On a busy machine the signal arrives later than the next request.
	must(syscall.Wait4(process.Pid, nil, syscall.WUNTRACED, nil))
	began := time.Now()
	_, err := hasty.MakeNonce(ctx)
	refusal(t, err, "unreachable")
	check(t, time.Since(began) < 10*time.Second, "seconds", time.Since(began))
	check(t, process.Signal(syscall.SIGCONT) == nil, "continue")
	must(client.MakeNonce(ctx))
	siwaDev.program.stop(syscall.SIGKILL)
	_, err = hasty.MakeNonce(ctx)
	status, members := refusal(t, err, "unreachable").ForApp()
	check(t, status == 503 && members["error"] == "try_again", "for the app", members)

	// The feed goes on where it was, and no event comes twice.
	siwaDev.program.start()
	siwaDev.apple.revokeConsent(ada)
	backend.until(t, "the end of the session", func() bool { return len(backend.sessions) == 0 })
	check(t, backend.failure == nil && backend.count(siwa.EventTypeCredentialAuthorized) == 1, "events", backend.events)
}

// siwa as a service of its own, which posts its events to a receiver with the package.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	secrets := make([]string, 2)
	for index := range secrets {
		key := make([]byte, 32)
		must(rand.Read(key))
		secrets[index] = "whsec_" + base64.StdEncoding.EncodeToString(key)
	}
	ports, folder, key := freePorts(2), t.TempDir(), "siwa_of_a_test_0123456789"
	base, applePort := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprint(ports[1])
	client := must(siwa.NewClient(siwa.Options{
		URL: base, APIKey: key, ClientID: app, WebhookSecrets: strings.Join(secrets, " "),
	}))
	received := make(chan siwa.Event, 9)
	failures := 1
	receiver := httptest.NewServer(client.WebhookHandler(func(_ context.Context, event siwa.Event) error {
		if failures > 0 { // siwa sends the event again
			failures--
			return errors.New("the database does not respond")
		}
		received <- event
		return nil
	}))
	defer receiver.Close()
	secretFile, configFile := filepath.Join(folder, "secret"), filepath.Join(folder, "siwa.yaml")
	check(t, os.WriteFile(secretFile, []byte(secrets[1]), 0o600) == nil && os.WriteFile(configFile, []byte(fmt.Sprintf(
		"webhooks:\n  - name: backend\n    url: %s/siwa\n    secret_files: [%s]\n", receiver.URL, secretFile)), 0o600) == nil, "files")
	apple := apple{t, "http://127.0.0.1:" + applePort + "/emulator"}
	startProgram(t, []string{
		binary("siwa-dev"), "emulate", "--port", applePort, "--client-id", app, "--signing-key-file",
		folder + "/AuthKey_ABC123DEFG.p8", "--notification-url", base + "/v1/apple/notifications"}, apple.url, nil)
	hash := sha256.Sum256([]byte(key))
	startProgram(t, []string{binary("siwa"), "serve"}, base+"/livez", []string{
		"PATH=" + os.Getenv("PATH"), "SIWA_ENV=development", fmt.Sprintf("SIWA_PORT=%d", ports[0]), "APPLE_TEAM_ID=SIWADEV000",
		"APPLE_CLIENT_IDS=" + app, "APPLE_BASE_URL=http://127.0.0.1:" + applePort, "SIWA_CONFIG=" + configFile,
		"DATABASE_URL=sqlite://" + folder + "/siwa.sqlite", "SIWA_API_KEY_HASHES=backend=" + hex.EncodeToString(hash[:])})

	ada := apple.person(object{})
	outcome := must(client.SignIn(ctx, []byte(encoded(apple.signIn(ada, must(client.MakeNonce(ctx)))))))
	apple.revokeConsent(ada)
	for _, wanted := range []string{"account_created", "credential_authorized", "credential_revoked"} {
		select {
		case event := <-received:
			check(t, event.Type == wanted && event.AccountID == outcome.Account.ID, "event", event)
			if wanted == "credential_revoked" {
				check(t, event.Reason == "consent_revoked" && !event.OccurredAt.Before(outcome.Credential.Since.Time), "event", event)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no %s within a minute", wanted)
		}
	}
}

// The program of the README, as a new user runs it.
func readme(t *testing.T, siwaDev development) {
	folder := t.TempDir()
	_, text, _ := strings.Cut(string(must(os.ReadFile("README.md"))), "```go\n")
	source, _, _ := strings.Cut(text, "```")
	source = strings.Replace(source, "http://127.0.0.1:8081/emulator", siwaDev.apple.url, 1)
	check(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(source), 0o600) == nil, "file")
	for _, arguments := range [][]string{
		{"go", "mod", "init", "try-siwa"},
		{"go", "mod", "edit", "-require=example.com/siwa@v0.0.0", "-replace=example.com/siwa=" + must(os.Getwd())},
		{"go", "build", "-o", "try-siwa"},
		{filepath.Join(folder, "try-siwa")},
	} {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
		command.Dir = folder
		command.Env = append(os.Environ(), "SIWA_URL="+siwaDev.url, "SIWA_API_KEY=siwa_development",
			"SIWA_CLIENT_ID="+app)
		output, err := command.CombinedOutput()
		check(t, err == nil, string(output), err)
		if len(arguments) == 1 {
			lines := strings.Split(string(output), "\n")
			check(t, len(lines) == 4 && strings.HasPrefix(lines[0], "Signed in: Ada acc_") &&
				lines[1] == "The session has ended. State: revoked" && lines[2] == "Deleted: erased", "output", lines)
			_, err := os.Stat(filepath.Join(folder, "cursor.txt.new"))
			check(t, errors.Is(err, os.ErrNotExist), "a half save", err)
		}
	}
}
