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
export class Events implements AsyncIterable<Event> {
    /**
     * @param {import("./transport.js").Transport} transport
     * @param {CursorStore} store
     * @param {EventOptions} options
     */
    constructor(transport: import("./transport.js").Transport, store: CursorStore, options: EventOptions);
    /**
     * The last saved cursor: all events before it are handled. Undefined until the feed has begun.
     * @type {string | undefined}
     */
    cursor: string | undefined;
    /** True if the last page was the end of the feed. */
    isCaughtUp: boolean;
    /**
     * The time of siwa's last response: at most `waitSeconds` ago while siwa responds.
     * @type {Date | undefined}
     */
    lastResponseAt: Date | undefined;
    /** Begins the feed if the store has no cursor. Waits until siwa responds. */
    begin(): Promise<void>;
    /** Throws SiwaError `feed_not_begun` (503) until the feed has begun. Call it before each sign-in. */
    check(): void;
    /**
     * Calls `handle` with each event. After an error it logs the error, waits two seconds, and continues at the saved
     * cursor. Without `handle` it only begins the feed, for a backend with webhooks: siwa keeps the position of a webhook,
     * so the backend needs only the states from before its first start. With a cursor that is not siwa's, it ends, and
     * `check` refuses sign-ins.
     * @param {(event: Event) => Promise<void> | void} [handle]
     * @returns {Promise<void>}
     */
    start(handle?: ((event: Event) => Promise<void> | void) | undefined): Promise<void>;
    /** @returns {AsyncGenerator<Event, never, undefined>} */
    [Symbol.asyncIterator](): AsyncGenerator<Event, never, undefined>;
    #private;
}
export type Event = import("./models.js").Event;
/**
 * Keeps the position in the feed, best in the same database as the sessions.
 */
export type CursorStore = {
    /**
     *   Returns the saved cursor, or nothing for a new backend.
     */
    load: () => Promise<string | null | undefined> | string | null | undefined;
    /**
     *   Stores the cursor. An error here ends the iteration, and the events come again.
     */
    save: (cursor: string) => Promise<void> | void;
};
export type EventOptions = {
    /**
     * Called when events were missed: see Events.
     */
    resync?: (() => Promise<void> | void) | undefined;
    /**
     * How long siwa waits for an event, 0 to 30: 30.
     */
    waitSeconds?: number | undefined;
};
