// Plays Fixtures/webhooks with the verifier of the JavaScript backend: a line for each case, as the tests expect it.
import { readFileSync, readdirSync } from "node:fs";

const [fixtures, backend] = process.argv.slice(2);
const { WebhookRefused, keysOf, verify } = await import(`${backend}/webhooks.mjs`);

function judge({ secrets, at, headers, body = "", body_parts = [] }) {
    const text = body_parts.map((part) => part.text.repeat(part.times ?? 1)).join("") || body;
    let keys;
    try {
        keys = keysOf(secrets);
    } catch {
        return "misconfigured";
    }
    try {
        return `accepted ${verify(headers, Buffer.from(text), keys, Date.parse(at) / 1000)}`;
    } catch (error) {
        if (!(error instanceof WebhookRefused)) throw error;
        return `refused ${error.code}`;
    }
}

for (const name of readdirSync(fixtures).sort()) {
    console.log(name, judge(JSON.parse(readFileSync(`${fixtures}/${name}`, "utf8"))));
}
