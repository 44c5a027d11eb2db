// The feed of events.
import { decoded } from "./decoding.js";
import { SiwaError, check } from "./errors.js";

/** Seconds between two attempts while siwa does not respond, unless siwa names more. */
const LONGEST_PAUSE = 60;
/** Seconds after an error of a handler. */
const PAUSE_AFTER_ERROR = 2;

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
 * @property {() => Promise<void> | void} [resync]  Called when events were missed: see Events.
 * @property {number} [waitSeconds]  How long siwa waits for an event, 0 to 30: 30.
 */

/**
 * All events in their order, for `start` or for `for await`. The iteration waits for new ones and never ends.
 *
 * It saves the cursor of a page after the body of the loop has handled the page's last event. So an event can come
 * again after a crash, and none is lost: handle each event so that a second time changes nothing. An error in the loop
 * ends the iteration without saving.
 *
 * While siwa does not respond, the iteration waits and asks again with the same cursor. Errors that need a person, such
 * as `caller_unauthenticated`, are thrown.
 *
 * Without a saved cursor, and after `cursor_ahead` (siwa's database was restored from a backup), it begins at the end of
 * the feed. Earlier events are missed, so it first calls `resync`, which must handle SiwaClient.missedEvents of all users.
 * Without `resync`, `cursor_ahead` is thrown.
 *
 * @implements {AsyncIterable<Event>}
 */
export class Events {
    #transport;
    #store;
    #options;
    #hasEnded = false;

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
         * The last saved cursor: all events before it are handled. Undefined until the feed has begun.
         * @type {string | undefined}
         */
        this.cursor = undefined;
        /** True if the last page was the end of the feed. */
        this.isCaughtUp = false;
        /**
         * The time of siwa's last response: at most `waitSeconds` ago while siwa responds.
         * @type {Date | undefined}
         */
        this.lastResponseAt = undefined;
    }

    /** Begins the feed if the store has no cursor. Waits until siwa responds. */
    async begin() {
        this.#hasEnded = false;
        this.cursor = (await this.#store.load()) || undefined;
        if (!this.cursor) await this.#save(await this.#next());
    }

    /** Throws SiwaError `feed_not_begun` (503) until the feed has begun. Call it before each sign-in. */
    check() {
        check(this.cursor !== undefined, "feed_not_begun", 503, "The revocation of a sign-in could be missed.");
    }

    /**
     * Calls `handle` with each event. After an error it logs the error, waits two seconds, and continues at the saved
     * cursor. Without `handle` it only begins the feed, for a backend with webhooks: siwa keeps the position of a webhook,
     * so the backend needs only the states from before its first start. With a cursor that is not siwa's, it ends, and
     * `check` refuses sign-ins.
     * @param {(event: Event) => Promise<void> | void} [handle]
     * @returns {Promise<void>}
     */
    async start(handle) {
        for (;;) {
            try {
                if (!handle) return await this.begin();
                for await (const event of this) await handle(event);
            } catch (error) {
                if (this.#hasEnded) return;
                this.#transport.logger.warn(`siwa-client: events are read again at the same cursor after an error: ${error}`);
                await this.#transport.clock.sleep(PAUSE_AFTER_ERROR);
            }
        }
    }

    /** @returns {AsyncGenerator<Event, never, undefined>} */
    async *[Symbol.asyncIterator]() {
        const { clock } = this.#transport;
        await this.begin();
        for (;;) {
            const began = clock.now();
            const page = await this.#next();
            yield* page.events;
            if (page.cursor !== this.cursor) await this.#save(page);
            // A service that does not wait would be asked without a pause.
            else if (clock.now() - began < 1) await clock.sleep(1);
            this.isCaughtUp = !page.has_more;
        }
    }

    /** @param {import("./models.js").EventPage} page */
    async #save({ cursor }) {
        await this.#store.save(cursor);
        this.cursor = cursor;
    }

    /** The next page, or the end of the feed without a usable cursor. */
    async #next() {
        const { clock, logger } = this.#transport;
        const { resync, waitSeconds = 30 } = this.#options;
        for (let failures = 0, { cursor } = this; ;) {
            try {
                const query = cursor ? `after=${encodeURIComponent(cursor)}&wait=${waitSeconds}` : "after=latest";
                const options = { timeoutSeconds: (cursor ? waitSeconds : 0) + 15, attempts: 1 };
                const page = decoded("EventPage", await this.#transport.call("GET", `/v1/events?${query}`, options));
                // The end comes before the states, so that no change between the two is missed.
                if (!cursor) await resync?.();
                this.lastResponseAt = new Date(clock.now() * 1000);
                return page;
            } catch (error) {
                if (!(error instanceof SiwaError)) throw error;
                if (error.code === "cursor_ahead" && resync && cursor) {
                    logger.warn("siwa-client: siwa's feed ends before the saved cursor; all states are read again");
                    cursor = undefined;
                    continue;
                }
                if (error.code === "parameter_malformed" && cursor) {
                    logger.warn(`siwa-client: the feed ends; delete its cursor, and start again (${error.message})`);
                    this.cursor = undefined;
                    this.#hasEnded = true;
                }
                if (!error.isTemporary) throw error;
                if (failures === 0) logger.warn(`siwa-client: reading events failed, and is repeated (${error.message})`);
                await clock.sleep(error.retryAfter ?? Math.min(2 ** failures, LONGEST_PAUSE));
                failures += 1;
            }
        }
    }
}
