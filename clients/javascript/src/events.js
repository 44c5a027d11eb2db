// The feed of events.
import { decoded } from "./decoding.js";
import { SiwaError } from "./errors.js";

/** Seconds between two attempts while siwa does not respond, unless siwa names more. */
const LONGEST_PAUSE = 60;

/** @typedef {import("./models.js").Event} Event */

/**
 * Keeps the position in the feed, best in the same database as the sessions.
 * @typedef {object} CursorStore
 * @property {() => Promise<string | null | undefined> | string | null | undefined} load
 *   Returns the saved cursor, or nothing for a new backend.
 * @property {(cursor: string) => Promise<void> | void} save
 *   Stores the cursor. An error here ends the iteration, and the events come again.
 */

/**
 * @typedef {object} EventOptions
 * @property {() => Promise<void> | void} [resync]  Reads the states of all users and ends sessions: see Events.
 * @property {number} [waitSeconds]  How long siwa waits for an event, 0 to 30: 30.
 */

/**
 * All events in their order, for `for await`. The iteration waits for new ones and never ends.
 *
 * It saves the cursor of a page after the body of the loop has handled the page's last event. So an event can come
 * again after a crash, and none is lost: handle each event so that a second time changes nothing. An error in the loop
 * ends the iteration without saving.
 *
 * While siwa does not respond, the iteration waits and asks again with the same cursor. Errors that need a person, such
 * as `caller_unauthenticated`, are thrown.
 *
 * Without a saved cursor, and after `cursor_ahead` (siwa's database was restored from a backup), it begins at the end of
 * the feed. Earlier events are missed, so it first calls `resync`, which must read the states of all users with
 * SiwaClient.states and end sessions whose state is not `authorized`. Without `resync`, `cursor_ahead` is thrown.
 *
 * @implements {AsyncIterable<Event>}
 */
export class Events {
    #transport;
    #store;
    #options;

    /**
     * @param {import("./transport.js").Transport} transport
     * @param {CursorStore} store
     * @param {EventOptions} options
     */
    constructor(transport, store, options) {
        this.#transport = transport;
        this.#store = store;
        this.#options = options;
        /**
         * The last saved cursor: all events before it are handled.
         * @type {string | undefined}
         */
        this.cursor = undefined;
        /** True if the last page was the end of the feed. */
        this.isCaughtUp = false;
        /**
         * The time of siwa's last response: at most `waitSeconds` ago while siwa responds. Undefined until the feed has
         * begun, and before then a backend must not accept sign-ins: it could miss their revocation.
         * @type {Date | undefined}
         */
        this.lastResponseAt = undefined;
    }

    /** @returns {AsyncGenerator<Event, never, undefined>} */
    async *[Symbol.asyncIterator]() {
        const { clock, logger } = this.#transport;
        this.cursor = (await this.#store.load()) || undefined;
        for (let failures = 0; ;) {
            const began = clock.now();
            let page;
            try {
                page = await this.#next();
            } catch (error) {
                if (!(error instanceof SiwaError)) throw error;
                if (error.code === "cursor_ahead" && this.#options.resync && this.cursor) {
                    logger.warn("siwa-client: siwa's feed ends before the saved cursor; all states are read again");
                    this.cursor = undefined;
                    continue;
                }
                if (!error.isTemporary) throw error;
                if (failures === 0) logger.warn(`siwa-client: reading events failed, and is repeated (${error.message})`);
                await clock.sleep(error.retryAfter ?? Math.min(2 ** failures, LONGEST_PAUSE));
                failures += 1;
                continue;
            }
            failures = 0;
            this.lastResponseAt = new Date(clock.now() * 1000);
            yield* page.events;
            if (page.cursor !== this.cursor) {
                await this.#store.save(page.cursor);
                this.cursor = page.cursor;
            } else if (clock.now() - began < 1) {
                // A service that does not wait would be asked without a pause.
                await clock.sleep(1);
            }
            this.isCaughtUp = !page.has_more;
        }
    }

    async #next() {
        const { resync, waitSeconds = 30 } = this.#options;
        if (this.cursor) return this.#page(`after=${encodeURIComponent(this.cursor)}&wait=${waitSeconds}`, waitSeconds);
        // The end comes before the states, so that no change between the two is missed.
        const end = await this.#page("after=latest", 0);
        await resync?.();
        return end;
    }

    /**
     * @param {string} query
     * @param {number} waitSeconds
     */
    async #page(query, waitSeconds) {
        const options = { timeoutSeconds: waitSeconds + 15, attempts: 1 };
        return decoded("EventPage", await this.#transport.call("GET", `/v1/events?${query}`, options));
    }
}
