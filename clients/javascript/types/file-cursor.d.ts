/**
 * Keeps the cursor of the events in a file, for one process.
 * @implements {CursorStore}
 * @typedef {import("./events.js").CursorStore} CursorStore
 */
export class FileCursor implements CursorStore {
    /** @param {string} path */
    constructor(path: string);
    /**
     * See CursorStore.
     * @returns {Promise<string | undefined>}
     */
    load(): Promise<string | undefined>;
    /**
     * See CursorStore. After a crash the file has the old cursor or the new one.
     * @param {string} cursor
     * @returns {Promise<void>}
     */
    save(cursor: string): Promise<void>;
    #private;
}
/**
 * Keeps the cursor of the events in a file, for one process.
 */
export type CursorStore = import("./events.js").CursorStore;
