/** Sign in with Apple in JavaScript backends: the client of a siwa service. README.md begins with an example. */

export { SiwaClient } from "./client.js";
export { SiwaError } from "./errors.js";
export { Events } from "./events.js";
export { API_VERSION, VERSION } from "./transport.js";

/** @typedef {import("./client.js").AccountSearch} AccountSearch */
/** @typedef {import("./client.js").ClientOptions} ClientOptions */
/** @typedef {import("./client.js").Session} Session */
/** @typedef {import("./errors.js").Refusal} Refusal */
/** @typedef {import("./events.js").CursorStore} CursorStore */
/** @typedef {import("./events.js").EventOptions} EventOptions */
/** @typedef {import("./transport.js").Clock} Clock */
/** @typedef {import("./transport.js").Logger} Logger */
/** @typedef {import("./webhooks.js").RequestHeaders} RequestHeaders */
