// Express and handlers of the Fetch API (Deno, Bun, Hono, Next.js): errors for the app, access tokens, and webhooks.
import { boundedBytes } from "./decoding.js";
import { SiwaError } from "./errors.js";
import { LONGEST_BODY } from "./webhooks.js";

/** @typedef {import("./client.js").SiwaClient} SiwaClient */
/** @typedef {(event: import("./models.js").Event) => Promise<void> | void} EventHandler */

/**
 * A handler of Express 4 or 5. Its parameters have no types here, because this package needs no types of Express.
 * @typedef {(request: any, response: any, next: (error?: unknown) => void) => unknown} ExpressHandler
 */

/** @param {SiwaError} error */
function answer(error) {
    const { status, json } = error.forApp();
    if (status >= 500) console.error(`siwa-client: a call of siwa failed: ${error.message}`);
    const pause = status === 503 && { "Retry-After": String(error.retryAfter ?? 1) };
    const headers = { "Cache-Control": "no-store", "Content-Type": "application/json", ...pause };
    return { status, headers, body: JSON.stringify(json) };
}

/**
 * Middleware that answers SiwaError in all routes. It comes after them: `app.use(expressErrors)`.
 * @param {unknown} error
 * @param {any} _request
 * @param {any} response
 * @param {(error?: unknown) => void} next
 */
export function expressErrors(error, _request, response, next) {
    if (!(error instanceof SiwaError) || response.headersSent) return next(error);
    const { status, headers, body } = answer(error);
    response.writeHead(status, headers).end(body);
}

/**
 * Passes the errors of an async handler on, as Express 5 does and Express 4 does not.
 * @param {ExpressHandler} handler
 * @returns {ExpressHandler}
 */
export function expressRoute(handler) {
    return (request, response, next) => Promise.resolve(handler(request, response, next)).catch(next);
}

/**
 * Middleware that verifies the request's access token, and stores it in `response.locals.token`.
 * @param {SiwaClient} client
 * @param {string} audience
 * @param {string[]} scopes
 * @returns {ExpressHandler}
 */
export function expressToken(client, audience, ...scopes) {
    return expressRoute(async (request, response, next) => {
        response.locals.token = await client.verifyToken(request.headers.authorization, audience, scopes);
        next();
    });
}

/**
 * The handler of a webhook: `app.post("/siwa", expressWebhook(client, handle))`. It comes before `express.json()`, which
 * would consume the bytes. siwa sends the event again unless `handle` has returned.
 * @param {SiwaClient} client
 * @param {EventHandler} handle
 * @returns {ExpressHandler}
 */
export function expressWebhook(client, handle) {
    return expressRoute(async (request, response) => {
        if (request.readableEnded) throw new TypeError("the route of the webhook must come before express.json()");
        await handle(await client.verifyWebhook(request.headers, await boundedBytes(request, LONGEST_BODY, true)));
        response.writeHead(204).end();
    });
}

/**
 * A handler of the Fetch API that answers SiwaError.
 * @template {unknown[]} More
 * @param {(request: Request, ...more: More) => Promise<Response> | Response} handler
 * @returns {(request: Request, ...more: More) => Promise<Response>}
 */
export function fetchRoute(handler) {
    return async (request, ...more) => {
        try {
            return await handler(request, ...more);
        } catch (error) {
            if (!(error instanceof SiwaError)) throw error;
            const { body, ...head } = answer(error);
            return new Response(body, head);
        }
    };
}

/**
 * The handler of a webhook. siwa sends the event again unless `handle` has returned.
 * @param {SiwaClient} client
 * @param {EventHandler} handle
 */
export function fetchWebhook(client, handle) {
    return fetchRoute(async (request) => {
        await handle(await client.verifyWebhook(request.headers, await boundedBytes(request.body, LONGEST_BODY)));
        return new Response(null, { status: 204 });
    });
}
