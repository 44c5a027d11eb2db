// Verifies the tokens of a file with the program of docs/receivers: a line for each token with its jti or its refusal.
import { readFileSync } from "node:fs";
import { EventRefused, KeysUnavailable, SecurityEvents } from "./security_events.mjs";

for (const { token, issuer, audience, keys_url } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
    try {
        console.log((await new SecurityEvents(issuer, audience, keys_url).verify(token)).jti);
    } catch (error) {
        if (error instanceof KeysUnavailable) console.log("unavailable");
        else if (error instanceof EventRefused) console.log(error.code);
        else throw error;
    }
}
