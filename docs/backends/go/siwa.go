package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var siwaURL, siwaKey, clientID = os.Getenv("SIWA_URL"), os.Getenv("SIWA_KEY"), os.Getenv("CLIENT_ID")

// Refused is what the app gets: a status and a code.
type Refused struct {
	status int
	code   string
}

func (r Refused) Error() string { return r.code }

// RefusedProof is the refusal of a proof of App Attest. ReAttest says that the app can go on with a new key.
type RefusedProof struct {
	Refused
	cause    string
	reAttest bool
}

func (r RefusedProof) Unwrap() error { return r.Refused }

func is(err error, code string) bool {
	var refused Refused
	return errors.As(err, &refused) && refused.code == code
}

// siwa calls siwa. All calls of this file can be repeated, so one whose outcome is unknown is sent again.
func siwa(method, path string, body, result any, timeout time.Duration) error {
	for attempt := 0; attempt < 3; attempt++ {
		pause, err := siwaOnce(method, path, body, result, timeout)
		if pause == 0 {
			return err
		}
		log.Print("siwa: ", err)
		if attempt < 2 {
			time.Sleep(pause)
		}
	}
	log.Printf("siwa does not answer at %s; requests that need it get 503", siwaURL)
	return Refused{503, "try_again"}
}

// siwaOnce returns a pause when the call is worth another attempt.
func siwaOnce(method, path string, body, result any, timeout time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return 0, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, siwaURL+path, &content)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+siwaKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil { // no connection, or no response in time
		return time.Second, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 500 || response.StatusCode == 429 {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		if seconds < 1 || seconds > 5 {
			seconds = 1
		}
		return time.Duration(seconds) * time.Second, errors.New(response.Status)
	}
	if response.StatusCode >= 400 {
		var problem struct {
			Code, Cause string
			ReAttest    bool `json:"re_attest"`
		}
		_ = json.NewDecoder(response.Body).Decode(&problem)
		if problem.Code == "" || strings.HasPrefix(problem.Code, "caller_") {
			// Not a mistake of the user, so the app gets a 500.
			return 0, fmt.Errorf("siwa answers %s %s: check SIWA_URL and SIWA_KEY", response.Status, problem.Code)
		}
		refused := Refused{response.StatusCode, problem.Code}
		if problem.Cause != "" {
			return 0, RefusedProof{refused, problem.Cause, problem.ReAttest}
		}
		return 0, refused
	}
	if response.StatusCode == 204 {
		return 0, nil
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil { // a part of a response
		return time.Second, err
	}
	return 0, nil
}
