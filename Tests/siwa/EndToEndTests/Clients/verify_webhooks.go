// Plays Fixtures/webhooks with the verifier of the Go backend: a line for each case, as the tests expect it.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type webhookCase struct {
	Secrets string
	At      time.Time
	Headers map[string]string
	Body    string
	Parts   []struct {
		Text  string
		Times int
	} `json:"body_parts"`
}

func judge(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var fixture webhookCase
	if err := json.Unmarshal(content, &fixture); err != nil {
		panic(err)
	}
	for _, part := range fixture.Parts {
		fixture.Body += strings.Repeat(part.Text, part.Times)
	}
	keys, err := webhookKeys(fixture.Secrets)
	if err != nil {
		return "misconfigured"
	}
	header := http.Header{}
	for name, value := range fixture.Headers {
		header.Set(name, value)
	}
	id, err := verifyWebhook(header, []byte(fixture.Body), keys, fixture.At)
	if err != nil {
		return "refused " + err.Error()
	}
	return "accepted " + id
}

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.json")) // sorted by name
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		fmt.Println(filepath.Base(file), judge(file))
	}
}
