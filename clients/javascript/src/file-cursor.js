// @ts-ignore: without the types of Node, so that the package needs nothing.
import { open, readFile, rename } from "node:fs/promises";

/**
 * Keeps the cursor of the events in a file, for one process.
 * @implements {CursorStore}
 * @typedef {import("./events.js").CursorStore} CursorStore
 */
export class FileCursor {
    #path;

    /** @param {string} path */
    constructor(path) {
        this.#path = path;
    }

    /**
     * See CursorStore.
     * @returns {Promise<string | undefined>}
     */
    load() {
        // An editor or `echo` ends the file with a line end.
        return readFile(this.#path, "ascii").then((/** @type {string} */ text) => text.trim(), (/** @type {any} */ error) => {
            if (error.code !== "ENOENT") throw error;
        });
    }

    /**
     * See CursorStore. After a crash the file has the old cursor or the new one.
     * @param {string} cursor
     * @returns {Promise<void>}
     */
    async save(cursor) {
        const file = await open(`${this.#path}.new`, "w");
        await file.writeFile(cursor).then(() => file.sync()).finally(() => file.close());
        await rename(`${this.#path}.new`, this.#path);
    }
}
