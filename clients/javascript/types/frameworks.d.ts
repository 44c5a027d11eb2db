/**
 * Middleware that answers SiwaError in all routes. It comes after them: `app.use(expressErrors)`.
 * @param {unknown} error
 * @param {any} _request
 * @param {any} response
 * @param {(error?: unknown) => void} next
 */
export function expressErrors(error: unknown, _request: any, response: any, next: (error?: unknown) => void): void;
/**
 * Passes the errors of an async handler on, as Express 5 does and Express 4 does not.
 * @param {ExpressHandler} handler
 * @returns {ExpressHandler}
 */
export function expressRoute(handler: ExpressHandler): ExpressHandler;
/**
 * Middleware that verifies the request's access token, and stores it in `response.locals.token`.
 * @param {SiwaClient} client
 * @param {string} audience
 * @param {string[]} scopes
 * @returns {ExpressHandler}
 */
export function expressToken(client: SiwaClient, audience: string, ...scopes: string[]): ExpressHandler;
/**
 * The handler of a webhook: `app.post("/siwa", expressWebhook(client, handle))`. It comes before `express.json()`, which
 * would consume the bytes. siwa sends the event again unless `handle` has returned.
 * @param {SiwaClient} client
 * @param {EventHandler} handle
 * @returns {ExpressHandler}
 */
export function expressWebhook(client: SiwaClient, handle: EventHandler): ExpressHandler;
/**
 * A handler of the Fetch API that answers SiwaError.
 * @template {unknown[]} More
 * @param {(request: Request, ...more: More) => Promise<Response> | Response} handler
 * @returns {(request: Request, ...more: More) => Promise<Response>}
 */
export function fetchRoute<More extends unknown[]>(handler: (request: Request, ...more: More) => Promise<Response> | Response): (request: Request, ...more: More) => Promise<Response>;
/**
 * The handler of a webhook. siwa sends the event again unless `handle` has returned.
 * @param {SiwaClient} client
 * @param {EventHandler} handle
 */
export function fetchWebhook(client: SiwaClient, handle: EventHandler): (request: Request) => Promise<Response>;
export type SiwaClient = import("./client.js").SiwaClient;
export type EventHandler = (event: import("./models.js").Event) => Promise<void> | void;
/**
 * A handler of Express 4 or 5. Its parameters have no types here, because this package needs no types of Express.
 */
export type ExpressHandler = (request: any, response: any, next: (error?: unknown) => void) => unknown;
