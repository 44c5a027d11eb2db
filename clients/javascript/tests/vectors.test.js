import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { SiwaClient, SiwaError } from "siwa-client";
import { FIXTURES, FOLDERS, bodyOf, play } from "./vectors.js";

const files = (folder) => readdirSync(folder).filter((name) => name.endsWith(".json")).sort().map((name) => `${folder}/${name}`);

for (const folder of FOLDERS) {
    const vectors = files(`${FIXTURES}/clients/${folder}`);
    assert(vectors.length > 10, `there must be vectors of ${folder}`);
    for (const vector of vectors) test(vector.slice(FIXTURES.length), () => play(vector));
}

for (const path of files(`${FIXTURES}/webhooks`)) {
    test(path.slice(FIXTURES.length), async () => {
        let { secrets, at, headers, verdict, id, code, ...message } = JSON.parse(readFileSync(path, "utf8"));
        const clock = { now: () => Date.parse(at) / 1000 };
        const verified = async () =>
            (await new SiwaClient({ url: "http://unused", apiKey: "unused", webhookSecrets: secrets, clock })
                .verifyWebhook(headers, bodyOf(message))).id;
        // Bodies of this folder are not all events. Only a body with a good signature is read.
        if (verdict === "accepted" && !message.body?.includes('"type"')) code = "event_malformed";
        if (verdict === "accepted" && !code) assert.equal(await verified(), id);
        else if (verdict === "misconfigured") await assert.rejects(verified, TypeError);
        else await assert.rejects(verified, (error) => error instanceof SiwaError && error.code === code);
    });
}
