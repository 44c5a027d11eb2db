// The web server, with nothing but Node.js. In your backend, your framework does this.
import { webcrypto } from "node:crypto";
import { createServer } from "node:http";
import { SiwaError } from "siwa-client";
import { expressErrors } from "siwa-client/frameworks";

globalThis.crypto ??= webcrypto; // Node.js 18

export function stop(reason) {
    console.error(reason);
    process.exit(1);
}

/** Calls the handlers of the routes with `form` (the app's JSON), `bytes`, `headers`, `session` and `id`. */
export function serve(host, port, routes) {
    const server = createServer({ requestTimeout: 30_000 }, async (request, response) => {
        const { method, url, headers } = request;
        const send = (status, result) =>
            response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" }).end(JSON.stringify(result));
        try {
            const handler = routes[`${method} ${url.replace(/^\/links\/grt_[0-9a-f-]{1,64}$/, "/links/ID")}`];
            if (!handler) throw new SiwaError("not_found", 404, "no such route");
            const bytes = await bytesOf(request);
            const session = (headers.authorization ?? "").replace(/^Bearer /, "");
            const id = url.slice("/links/".length);
            send(200, await handler({ get form() { return parsed(bytes); }, bytes, headers, session, id }));
        } catch (error) {
            expressErrors(error, request, response, () => {
                console.error(method, url, error);
                send(500, { error: "internal_error" });
            });
        }
    });
    server.on("error", (error) => stop(`cannot start: ${error.message}`));
    server.listen(port, host, () => console.log(`listening on ${host}:${server.address().port}`));
}

async function bytesOf(request) {
    const chunks = [];
    let length = 0;
    for await (const chunk of request) {
        length += chunk.length;
        if (length > 65_536) throw new SiwaError("body_too_large", 413, "a body has at most 65,536 bytes");
        chunks.push(chunk);
    }
    return Buffer.concat(chunks);
}

function parsed(bytes) {
    try {
        return Object(JSON.parse(bytes.length > 0 ? bytes : "{}"));
    } catch {
        throw new SiwaError("body_not_json", 400, "the body must be JSON");
    }
}
