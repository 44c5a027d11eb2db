// Verifies the tokens of a file with the program of docs/receivers: a line for each token with its jti or its refusal.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

func main() {
	content, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var tokens []struct {
		Token, Issuer, Audience string
		KeysURL                 string `json:"keys_url"`
	}
	if err := json.Unmarshal(content, &tokens); err != nil {
		panic(err)
	}
	for _, token := range tokens {
		receiver := SecurityEvents{Issuer: token.Issuer, Audience: token.Audience, KeysURL: token.KeysURL}
		event, err := receiver.Verify(token.Token)
		switch {
		case errors.Is(err, errKeysUnavailable):
			fmt.Println("unavailable")
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(event.ID)
		}
	}
}
