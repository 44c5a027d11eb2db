package siwa

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

const fixtures = "../../Fixtures"

var vectorFolders = []string{"calls", "retries", "transport", "webhooks", "events", "tokens", "key-sets"}

type vector struct {
	Client struct {
		APIKey         string  `json:"api_key"`
		ClientID       string  `json:"client_id"`
		Issuer         string  `json:"issuer"`
		TimeoutSeconds float64 `json:"timeout_seconds"`
		Attempts       int     `json:"attempts"`
	}
	At    time.Time
	Steps []step
}

type step struct {
	Call      string
	Arguments arguments
	Returns   json.RawMessage
	Error     json.RawMessage
	Waits     []float64
	Warnings  *int
	Within    float64 `json:"within_seconds"`
	At        *time.Time
	Together  int
}

type arguments struct {
	Form            json.RawMessage
	Create          *bool
	MintedNonce     *bool `json:"minted_nonce"`
	Code            string
	AccountID       string `json:"account_id"`
	AuthenticatedAt Time   `json:"authenticated_at"`
	Sub             string
	Subs            []string
	ClientID        string `json:"client_id"`
	Reason          string
	Until           Time
	Google          bool
	ErasureID       string `json:"erasure_id"`
	GrantID         string `json:"grant_id"`
	Purpose         string
	Bearer          string
	Audience        string
	Scopes          []string
	Secrets         string
	Headers         map[string]string
	Body            string
	BodyParts       []part `json:"body_parts"`
	Cursor          string
	Take            int
	Resync          bool
	FailAt          string `json:"fail_at"`

	search Search
}

type part struct {
	Text  string
	Times *int
}

// UnmarshalJSON also reads the parameters of a search.
func (a *arguments) UnmarshalJSON(data []byte) error {
	type plain arguments
	// A list of the same name, such as the states of a call, is no parameter.
	_ = json.Unmarshal(data, &a.search)
	return json.Unmarshal(data, (*plain)(a))
}

func body(text string, parts []part) []byte {
	for _, part := range parts {
		times := 1
		if part.Times != nil {
			times = *part.Times
		}
		text += strings.Repeat(part.Text, times)
	}
	return []byte(text)
}

// vectorClock shows the time of the vector, and does not wait.
type vectorClock struct {
	mutex sync.Mutex
	time  time.Time
	waits []float64
}

func (c *vectorClock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.time
}

func (c *vectorClock) Sleep(ctx context.Context, duration time.Duration) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.time, c.waits = c.time.Add(duration), append(c.waits, duration.Seconds())
	if len(c.waits) >= 50 {
		return errors.New("too many pauses") // a feed whose request is wrong would ask for ever
	}
	return ctx.Err()
}

// tracingStore notes what happens to the cursor.
type tracingStore struct {
	cursor string
	trace  []string
}

func (s *tracingStore) Load(context.Context) (string, error) {
	s.trace = append(s.trace, "load")
	return s.cursor, nil
}

func (s *tracingStore) Save(_ context.Context, cursor string) error {
	s.cursor, s.trace = cursor, append(s.trace, "save "+cursor)
	return nil
}

func TestVectors(t *testing.T) {
	played := 0
	for _, folder := range vectorFolders {
		files, _ := filepath.Glob(filepath.Join(fixtures, "clients", folder, "*.json"))
		if len(files) == 0 {
			t.Errorf("there are no vectors in %s", folder)
		}
		for _, file := range files {
			file := file
			played++
			t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
				t.Parallel()
				for _, mistake := range play(t, file) {
					t.Error(mistake)
				}
			})
		}
	}
	t.Logf("%d vectors", played)
}

// server is the process that plays siwa, until the tests end.
var server struct {
	sync.Mutex
	input  io.Writer
	output *bufio.Reader
}

// ask sends a line to the server, and returns its line.
func ask(t *testing.T, line string) string {
	t.Helper()
	server.Lock()
	defer server.Unlock()
	if server.output == nil {
		command := exec.Command("python3", filepath.Join(fixtures, "clients/server.py"))
		server.input, _ = command.StdinPipe()
		output, _ := command.StdoutPipe()
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		server.output = bufio.NewReader(output)
	}
	fmt.Fprintln(server.input, line)
	answer, err := server.output.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(answer)
}

// play returns the differences between the vector and the client.
func play(t *testing.T, file string) []string {
	t.Helper()
	var vector vector
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &vector)
	}
	if err != nil {
		t.Fatal(err)
	}
	port := ask(t, file)
	mistakes := resultsOf(vector, "http://127.0.0.1:"+port)
	if verdict := ask(t, port); verdict != `{"verdict": "passed"}` {
		mistakes = append(mistakes, verdict)
	}
	return mistakes
}

func resultsOf(vector vector, base string) (mistakes []string) {
	clock := &vectorClock{time: vector.At}
	warnings := 0
	options := Options{
		URL: base, APIKey: or(vector.Client.APIKey, "siwa_development"),
		ClientID: or(vector.Client.ClientID, "com.example.app"),
		Issuer:   or(vector.Client.Issuer, "https://signin.example.com"),
		Timeout:  time.Duration(vector.Client.TimeoutSeconds * float64(time.Second)), Attempts: vector.Client.Attempts,
		Clock: clock,
		Warn: func(string) {
			clock.mutex.Lock()
			defer clock.mutex.Unlock()
			warnings++
		},
	}
	client, err := NewClient(options)
	if err != nil {
		return []string{err.Error()}
	}
	for _, step := range vector.Steps {
		if step.At != nil {
			clock.time = *step.At
		}
		clock.waits, warnings = nil, 0
		began := time.Now()
		results := make([]any, max(step.Together, 1))
		var group sync.WaitGroup
		for index := range results {
			index := index
			group.Add(1)
			go func() {
				defer group.Done()
				results[index] = resultOf(client, options, step)
			}()
		}
		group.Wait()
		if took := time.Since(began).Seconds(); step.Within > 0 && took > step.Within {
			mistakes = append(mistakes, fmt.Sprintf("%s: took %v s", step.Call, took))
		}
		wanted := map[string]any{}
		if step.Error != nil {
			wanted["error"] = valueOf(step.Error)
		} else {
			wanted["returns"] = valueOf(step.Returns)
		}
		for _, found := range results {
			if !matches(wanted, found) {
				mistakes = append(mistakes, fmt.Sprintf("%s: expected %v, found %v", step.Call, wanted, found))
			}
		}
		if len(step.Waits)+len(clock.waits) > 0 && !reflect.DeepEqual(step.Waits, clock.waits) {
			mistakes = append(mistakes, fmt.Sprintf("%s: expected waits %v, found %v", step.Call, step.Waits, clock.waits))
		}
		if step.Warnings != nil && *step.Warnings != warnings {
			mistakes = append(mistakes, fmt.Sprintf("%s: expected %d warnings, found %d", step.Call, *step.Warnings, warnings))
		}
	}
	return mistakes
}

func max(left, right int) int {
	if left > right {
		return left
	}
	return right
}

// resultOf returns {"returns": …} or {"error": …} as JSON values.
func resultOf(client *Client, options Options, step step) any {
	result, err := call(client, options, step)
	if err == nil {
		data, _ := json.Marshal(result)
		return map[string]any{"returns": valueOf(data)}
	}
	var failure *Error
	if !errors.As(err, &failure) {
		return err
	}
	members := map[string]any{"code": failure.Code}
	add := func(name string, value any, isThere bool) {
		if isThere {
			members[name] = value
		}
	}
	add("status", json.Number(fmt.Sprint(failure.Status)), failure.Status != 0)
	add("request_id", failure.RequestID, failure.RequestID != "")
	add("retry_after", json.Number(fmt.Sprint(failure.RetryAfter.Seconds())), failure.RetryAfter != 0)
	add("cause", failure.Cause, failure.Cause != "")
	if failure.ReAttest != nil {
		members["re_attest"] = *failure.ReAttest
	}
	return map[string]any{"error": members}
}

func call(client *Client, options Options, step step) (any, error) {
	ctx, a := context.Background(), step.Arguments
	if a.ClientID != "" {
		client = client.ForApp(a.ClientID)
	}
	if a.MintedNonce != nil && !*a.MintedNonce {
		// An option of the client, as the secrets of webhooks are.
		options.OwnNonces = true
		client, _ = NewClient(options)
	}
	session := Session{a.AccountID, a.AuthenticatedAt.Time}
	switch step.Call {
	case "make_nonce":
		return client.MakeNonce(ctx)
	case "sign_in":
		if a.Create != nil && !*a.Create {
			return client.SignInKnownUser(ctx, a.Form)
		}
		return client.SignIn(ctx, a.Form)
	case "verify":
		return client.Verify(ctx, a.Form)
	case "web_result":
		return client.WebResult(ctx, a.Code)
	case "account":
		return client.Account(ctx, a.AccountID)
	case "account_of":
		return client.AccountOf(ctx, a.Sub)
	case "find_accounts":
		return client.FindAccounts(ctx, a.search)
	case "state":
		return client.State(ctx, a.Sub)
	case "states":
		return client.States(ctx, a.Subs)
	case "disable":
		return client.Disable(ctx, a.AccountID, a.Reason, a.Until.Time)
	case "enable":
		return client.Enable(ctx, a.AccountID)
	case "sign_out":
		if a.Google {
			return client.SignOutWithGoogle(ctx, a.AccountID)
		}
		return client.SignOut(ctx, a.AccountID)
	case "delete":
		return client.Delete(ctx, a.AccountID)
	case "erasure":
		return client.Erasure(ctx, a.ErasureID)
	case "grants":
		return client.Grants(ctx, a.AccountID)
	case "end_grant":
		return nil, client.EndGrant(ctx, a.AccountID, a.GrantID)
	case "make_challenge":
		return client.MakeChallenge(ctx, a.Purpose)
	case "register_key":
		return client.RegisterKey(ctx, a.Form)
	case "app_flip_prompt":
		return client.AppFlipPrompt(ctx, a.Form, session)
	case "app_flip":
		return client.AppFlip(ctx, a.Form, session)
	case "introspect":
		return client.Introspect(ctx, a.Bearer, a.Audience, a.Scopes...)
	case "verify_token":
		return client.VerifyToken(ctx, a.Bearer, a.Audience, a.Scopes...)
	case "verify_webhook":
		// The secret is an option of the client.
		options.WebhookSecrets = a.Secrets
		return verifyWebhook(options, a.Headers, body(a.Body, a.BodyParts))
	case "events":
		return traceOf(client, a)
	}
	return nil, fmt.Errorf("the runner does not know the call %s", step.Call)
}

func verifyWebhook(options Options, fields map[string]string, body []byte) (*Event, error) {
	client, err := NewClient(options)
	if err != nil {
		return nil, err
	}
	headers := http.Header{}
	for name, value := range fields {
		headers.Set(name, value)
	}
	return client.VerifyWebhook(headers, body)
}

func traceOf(client *Client, a arguments) ([]string, error) {
	store := &tracingStore{cursor: a.Cursor}
	feed := client.Events(store)
	if a.Resync {
		feed.Resync = func(context.Context) error {
			store.trace = append(store.trace, "resync")
			return nil
		}
	}
	errEnd := errors.New("the loop of the vector ends")
	err := feed.Run(context.Background(), func(_ context.Context, event Event) error {
		if event.ID == a.FailAt {
			return errEnd
		}
		store.trace = append(store.trace, event.ID)
		if len(store.trace) >= a.Take {
			return errEnd
		}
		return nil
	})
	if err == errEnd {
		return store.trace, nil
	}
	return nil, err
}

func valueOf(data []byte) any {
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

func matches(wanted, found any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		found, isObject := found.(map[string]any)
		for name, value := range wanted {
			isObject = isObject && matches(value, found[name])
		}
		return isObject
	case []any:
		found, isArray := found.([]any)
		isArray = isArray && len(wanted) == len(found)
		for index := 0; isArray && index < len(wanted); index++ {
			isArray = matches(wanted[index], found[index])
		}
		return isArray
	}
	return reflect.DeepEqual(wanted, found)
}

func TestWebhookFixtures(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(fixtures, "webhooks", "*.json"))
	if len(files) < 50 {
		t.Fatalf("there are only %d fixtures", len(files))
	}
	for _, file := range files {
		var fixture struct {
			Secrets, Body, Verdict, Code, ID string
			At                               time.Time
			Headers                          map[string]string
			BodyParts                        []part `json:"body_parts"`
		}
		data, _ := os.ReadFile(file)
		if err := json.Unmarshal(data, &fixture); err != nil {
			t.Fatal(err)
		}
		options := Options{
			URL: "http://siwa", APIKey: "key", WebhookSecrets: fixture.Secrets, Clock: &vectorClock{time: fixture.At},
		}
		event, err := verifyWebhook(options, fixture.Headers, body(fixture.Body, fixture.BodyParts))
		found := CodeOf(err)
		if err == nil {
			found = event.ID
		}
		wanted := or(fixture.Code, fixture.ID)
		switch name := strings.TrimSuffix(filepath.Base(file), ".json"); name {
		case "accepted-unicode", "accepted-65536-bytes":
			wanted = "event_malformed" // the bodies have a good signature, and are not events
		}
		if fixture.Verdict == "misconfigured" {
			wanted = ""
		}
		if found != wanted || (wanted == "" && err == nil) {
			t.Errorf("%s: expected %q, found %q, %v", file, wanted, found, err)
		}
	}
}

// A runner that finds no mistake would pass all vectors.
func TestRunnerFindsMistakes(t *testing.T) {
	for name, change := range map[string]func(exchange, step map[string]any){
		"target":           func(exchange, _ map[string]any) { exchange["target"] = "/v1/nonces/" },
		"method":           func(exchange, _ map[string]any) { exchange["method"] = "PUT" },
		"header":           func(exchange, _ map[string]any) { exchange["headers"] = map[string]any{"user-agent": nil} },
		"body":             func(exchange, _ map[string]any) { exchange["json"] = map[string]any{"x": 1} },
		"result":           func(_, step map[string]any) { step["returns"] = map[string]any{"nonce": "other"} },
		"error for result": func(_, step map[string]any) { step["error"] = map[string]any{"code": "nonce_missing"} },
		"wait":             func(_, step map[string]any) { step["waits"] = []any{1} },
		"warning":          func(_, step map[string]any) { step["warnings"] = 1 },
		"duration":         func(_, step map[string]any) { step["within_seconds"] = 1e-9 },
		"one call too few": func(_, step map[string]any) { step["together"] = 2 },
	} {
		data, _ := os.ReadFile(filepath.Join(fixtures, "clients/calls/make-nonce.json"))
		var vector struct {
			At        string                      `json:"at"`
			Exchanges []map[string]map[string]any `json:"exchanges"`
			Steps     []map[string]any            `json:"steps"`
		}
		if err := json.Unmarshal(data, &vector); err != nil {
			t.Fatal(err)
		}
		change(vector.Exchanges[0]["request"], vector.Steps[0])
		data, _ = json.Marshal(vector)
		file := filepath.Join(t.TempDir(), "vector.json")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if len(play(t, file)) == 0 {
			t.Errorf("the runner finds nothing wrong with another %s", name)
		}
	}
}
