package siwa_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	siwa "example.com/siwa"
)

const nonceBody = `{"nonce":"siwa-nonce-1","nonce_sha256":"x","expires_at":"2026-03-14T09:40:00.000Z"}`

func clientOf(t *testing.T, options siwa.Options) *siwa.Client {
	options.APIKey, options.ClientID = "key", app
	client, err := siwa.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestContextEndsACall(t *testing.T) {
	hangs := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
	defer server.Close()
	defer close(hangs)
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := clientOf(t, siwa.Options{URL: server.URL}).MakeNonce(ctx)
	refusal(t, err, "unreachable")
	check(t, errors.Is(err, context.DeadlineExceeded) && time.Since(began) < 5*time.Second, "end", err)

	// Also between two attempts, and in the feed.
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	client := clientOf(t, siwa.Options{URL: busy.URL, Warn: func(string) {}})
	for _, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := client.MakeNonce(ctx); return err },
		func(ctx context.Context) error {
			return client.Events(siwa.FileCursor(filepath.Join(t.TempDir(), "cursor"))).Run(ctx, nil)
		},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		began = time.Now()
		check(t, call(ctx) != nil && time.Since(began) < 4*time.Second, "end after", time.Since(began))
		cancel()
	}
}

// A certificate that no authority of this machine has signed, and the same with the authority in TLSConfig.
func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, nonceBody)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	_, err := clientOf(t, siwa.Options{URL: server.URL, Attempts: 1}).MakeNonce(ctx)
	refusal(t, err, "unreachable")
	var unknown x509.UnknownAuthorityError
	check(t, errors.As(err, &unknown), "error", err)

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := clientOf(t, siwa.Options{URL: server.URL, TLSConfig: &tls.Config{RootCAs: roots}})
	check(t, must(client.MakeNonce(ctx)).Nonce == "siwa-nonce-1", "nonce")
}

// net/http repeats requests by itself on connections that it has kept.
func TestNothingIsRepeatedUnseen(t *testing.T) {
	var requests int32
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				reader := bufio.NewReader(connection)
				for {
					if _, err := http.ReadRequest(reader); err != nil {
						return
					}
					if atomic.AddInt32(&requests, 1) > 1 {
						return // the second request of the connection has no response
					}
					fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
						len(`{"state":"authorized","client_id":"x"}`), `{"state":"authorized","client_id":"x"}`)
				}
			}()
		}
	}()
	client := clientOf(t, siwa.Options{URL: "http://" + listener.Addr().String(), Attempts: 1})
	check(t, must(client.State(ctx, "ada")).State == siwa.CredentialStateAuthorized, "state")
	_, err := client.State(ctx, "ada")
	refusal(t, err, "unreachable")
	check(t, atomic.LoadInt32(&requests) == 2, "requests", requests)
}

// siwa behind a path, and a response with too much before its body.
func TestPathAndLongHeader(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/siwa/v1/nonces" {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}
		fmt.Fprint(w, nonceBody)
	}))
	defer server.Close()
	check(t, must(clientOf(t, siwa.Options{URL: server.URL + "/siwa/"}).MakeNonce(ctx)).Nonce != "", "nonce")
	_, err := clientOf(t, siwa.Options{URL: server.URL, Attempts: 1}).MakeNonce(ctx)
	refusal(t, err, "unreachable")
}

func TestOptions(t *testing.T) {
	for _, name := range []string{"SIWA_URL", "SIWA_API_KEY", "SIWA_CLIENT_ID", "SIWA_ISSUER", "SIWA_WEBHOOK_SECRETS"} {
		t.Setenv(name, "")
	}
	for _, options := range []siwa.Options{
		{}, {URL: "siwa.internal", APIKey: "key"}, {URL: "ftp://siwa", APIKey: "key"}, {URL: "http://", APIKey: "key"},
		{URL: "http://siwa?x", APIKey: "key"}, {URL: "http://a:b@siwa", APIKey: "key"}, {URL: "http://siwa"},
		{URL: "http://siwa", APIKey: "secret key"}, {URL: "http://siwa", APIKey: "secret\nkey"},
		{URL: "http://siwa", APIKey: "key", WebhookSecrets: "whsec_"},
	} {
		_, err := siwa.NewClient(options)
		check(t, err != nil && siwa.CodeOf(err) == "" && !strings.Contains(err.Error(), "secret key"), "options", options, err)
	}
	client := must(siwa.NewClient(siwa.Options{URL: "http://siwa", APIKey: "key"}))
	_, err := client.State(ctx, "ada")
	check(t, err != nil && strings.Contains(err.Error(), "SIWA_CLIENT_ID"), "error", err)
	_, err = client.VerifyWebhook(http.Header{}, nil)
	check(t, err != nil && strings.Contains(err.Error(), "SIWA_WEBHOOK_SECRETS"), "error", err)
}

func TestErrorsForTheApp(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{&siwa.Error{Code: "token_expired", Status: 401}, 401, `{"error":"token_expired"}`},
		{fmt.Errorf("sign-in: %w", &siwa.Error{Code: "overloaded", Status: 503}), 503, `{"error":"try_again"}`},
		{&siwa.Error{Code: "caller_forbidden", Status: 403}, 500, `{"error":"internal_error"}`},
		{&siwa.Error{Code: "unexpected_response", Status: 404}, 500, `{"error":"internal_error"}`},
		{io.ErrUnexpectedEOF, 500, `{"error":"internal_error"}`},
	} {
		recorder := httptest.NewRecorder()
		siwa.Handler(func(*http.Request, []byte) (any, error) { return nil, c.err }).ServeHTTP(recorder,
			httptest.NewRequest("POST", "/signin", nil))
		check(t, recorder.Code == c.status && strings.TrimSpace(recorder.Body.String()) == c.body, "response", recorder, c)
	}
	for length, status := range map[int]int{65_536: 200, 65_537: 413} {
		recorder := httptest.NewRecorder()
		siwa.Handler(func(_ *http.Request, body []byte) (any, error) { return len(body), nil }).ServeHTTP(recorder,
			httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", length))))
		check(t, recorder.Code == status, "status", recorder, length)
	}
}

func TestTextsOfErrors(t *testing.T) {
	down := clientOf(t, siwa.Options{URL: "http://127.0.0.1:" + fmt.Sprint(freePorts(1)[0]), Attempts: 1})
	check(t, !strings.Contains(fmt.Sprintf("%+v", down), "key"), "a log has the key", down)
	_, unreachable := down.MakeNonce(ctx)
	_, noObject := down.SignIn(ctx, []byte("identity_token=x"))
	t.Setenv("SIWA_API_KEY", "")
	_, noKey := siwa.NewClient(siwa.Options{URL: "http://siwa"})
	for _, c := range []struct {
		err        error
		start, end string
	}{
		{unreachable, "siwa: unreachable: no complete response (", "refused); check SIWA_URL, or start siwa"},
		{noObject, "siwa: member_missing, status 400: The body must be a JSON object", "identity_token"},
		{noKey, "siwa: SIWA_API_KEY is missing", ""},
		{&siwa.Error{Code: "caller_unauthenticated", Status: 401, RequestID: "r1", Detail: "The key is unknown."},
			`siwa: caller_unauthenticated, status 401, request "r1": `, "The key is unknown; check SIWA_URL and SIWA_API_KEY"},
	} {
		text := c.err.Error()
		check(t, strings.HasPrefix(text, c.start) && strings.HasSuffix(text, c.end), "text", text)
	}
}

// A backend starts without siwa, but not with the URL of another server.
func TestCheck(t *testing.T) {
	warnings := []string{}
	options := siwa.Options{
		URL: "http://127.0.0.1:1", Attempts: 1, Warn: func(message string) { warnings = append(warnings, message) },
	}
	client := clientOf(t, options)
	check(t, client.Check(ctx) == nil && len(warnings) == 1 && strings.HasSuffix(warnings[0], "or start siwa"), "away", warnings)
	refusal(t, client.Events(siwa.FileCursor("none")).Check(), "feed_not_begun")
	ended, end := context.WithCancel(ctx)
	end()
	check(t, errors.Is(client.Check(ended), context.Canceled) && len(warnings) == 1, "ended", warnings)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	options.URL = other.URL
	check(t, clientOf(t, options).Check(ctx) != nil && len(warnings) == 1, "another server", warnings)
}

func TestFileCursor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cursor")
	store := siwa.FileCursor(path)
	check(t, must(store.Load(ctx)) == "", "cursor")
	for _, cursor := range []string{"c1", "c2"} {
		check(t, store.Save(ctx, cursor) == nil && must(store.Load(ctx)) == cursor, "cursor", cursor)
	}
	check(t, siwa.FileCursor(path+"/x").Save(ctx, "c3") != nil, "error")
	// A restarted backend accepts sign-ins before the first response.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	feed := clientOf(t, siwa.Options{URL: "http://127.0.0.1:1", Warn: func(string) { cancel() }}).Events(store)
	check(t, feed.Run(ctx, nil) != nil && feed.Position().Cursor == "c2", "position", feed.Position())
	entries := must(os.ReadDir(filepath.Dir(path)))
	check(t, len(entries) == 1, "files", entries)
}
