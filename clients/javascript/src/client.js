import { decoded } from "./decoding.js";
import { SiwaError, check } from "./errors.js";
import { Events } from "./events.js";
import { LINK, given, signInMembers, userMembers } from "./forms.js";
import { AccessTokens, bearerToken, checkAudienceAndScopes } from "./tokens.js";
import { Transport } from "./transport.js";
import { verifiedEvent, webhookKeys } from "./webhooks.js";

/** @type {Record<string, string>} */
const EVENT_OF_REASON = { apple_account_deleted: "account_deleted", erased: "account_erased" };

/** @typedef {import("./models.js").Models} Models */
/** @typedef {import("./transport.js").CallOptions} CallOptions */

/**
 * A missing option has the value of the environment variable.
 * @typedef {object} ClientOptions
 * @property {string} [url]  SIWA_URL, such as `https://siwa.internal`.
 * @property {string} [apiKey]  SIWA_API_KEY.
 * @property {string} [clientId]  SIWA_CLIENT_ID: the app's bundle ID.
 * @property {string} [issuer]  SIWA_ISSUER: the `iss` of access tokens. By default the URL.
 * @property {string} [webhookSecrets]  SIWA_WEBHOOK_SECRETS: several with spaces between them.
 * @property {number} [timeoutSeconds]  For one attempt, whole: 12.
 * @property {number} [attempts]  How often a call is made at most: 3.
 * @property {typeof fetch} [fetch]  For a private certificate authority or a proxy.
 * @property {import("./transport.js").Logger} [logger]  By default warnings go to `console.warn`.
 * @property {import("./transport.js").Clock} [clock]
 */

/**
 * The session of the user, never values that the app names.
 * @typedef {object} Session
 * @property {string} [accountId]
 * @property {Date | string} [authenticatedAt]  The time of the sign-in with Apple.
 */

/**
 * @typedef {object} AccountSearch
 * @property {string} [email]
 * @property {string} [name]
 * @property {string} [grant_id]
 * @property {string} [client_id]
 * @property {string} [state]
 * @property {string} [reason]
 * @property {boolean} [disabled]
 * @property {boolean} [linked]
 * @property {boolean} [apple_token]
 * @property {Date | string} [created_after]
 * @property {string} [after]
 * @property {number} [limit]
 */

/**
 * A client of one siwa service, for one app.
 *
 * Each method throws SiwaError. Methods repeat a call after a lost response, a 429 or a 5xx: after `Retry-After`, or
 * else after 1 and 2 seconds. If siwa asks for more than 5 seconds, the error has `retryAfter`. Calls whose second
 * execution would change something (`disable`, `enable`, `signOut`, `appFlip`) are only repeated if siwa certainly did
 * not execute them.
 *
 * Results are siwa's JSON with its member names, and with `Date` for times. `JSON.stringify` writes them as siwa did.
 */
export class SiwaClient {
    #transport;
    #clientId;
    #webhookKeys;
    #tokens;

    /**
     * Throws TypeError for a missing or malformed value.
     * @param {ClientOptions} [options]
     */
    constructor(options = {}) {
        const url = options.url || environment("SIWA_URL");
        this.#transport = new Transport({ ...options, url, apiKey: options.apiKey || environment("SIWA_API_KEY") });
        this.#clientId = options.clientId || environment("SIWA_CLIENT_ID");
        this.#webhookKeys = webhookKeys(options.webhookSecrets || environment("SIWA_WEBHOOK_SECRETS"));
        const issuer = options.issuer || environment("SIWA_ISSUER") || url.replace(/\/+$/, "");
        this.#tokens = new AccessTokens(this.#transport, issuer);
    }

    /**
     * For the start of a backend. Throws SiwaError if siwa refuses the API key or the client ID, or if the URL is not siwa's,
     * and TypeError without a client ID. If siwa does not respond, logs a warning and returns, so that the backend can start.
     */
    async check() {
        try {
            await this.state("check"); // unknown to Apple, which is no error
        } catch (error) {
            if (!(error instanceof SiwaError && error.isTemporary)) throw error;
            this.#transport.logger.warn(`siwa-client: the backend starts without siwa (${error.message})`);
        }
    }

    // Signing in

    /**
     * Makes a nonce for one sign-in within ten minutes. The app gives `nonce_sha256` to Apple, and posts `nonce` to the
     * backend together with the token.
     */
    makeNonce() {
        return this.#read("Nonce", "POST", "/v1/nonces", {});
    }

    /**
     * Verifies the identity token in the app's form, and returns the user's account.
     *
     * Errors without a request: `member_missing`, `nonce_missing`. From siwa: the codes of a refused token (401),
     * `credential_revoked` and `account_disabled` (403), `account_not_found` (404).
     * A sign-in is repeated like any other call. After a lost response the repetition can get `nonce_used`; the app then
     * starts again with a new nonce.
     * @param {unknown} form  The app's JSON, in siwa's names or in those of a library (README.md).
     * @param {{ create?: boolean, mintedNonce?: boolean }} options  create: false signs in only users who have an
     *   account. mintedNonce: false if the backend makes its own nonces and accepts each only once.
     */
    async signIn(form, { create = true, mintedNonce = true } = {}) {
        const members = { ...signInMembers(form, mintedNonce), ...userMembers(form), ...this.#app() };
        return this.#read("SignInOutcome", "POST", "/v1/sign-ins", create ? members : { ...members, create });
    }

    /**
     * Verifies the identity token in the app's form, and stores nothing. The errors are those of signIn.
     * @param {unknown} form
     * @param {{ mintedNonce?: boolean }} options
     */
    async verify(form, { mintedNonce = true } = {}) {
        const members = { ...signInMembers(form, mintedNonce), ...this.#app() };
        return this.#read("VerifiedIdentity", "POST", "/v1/identity-tokens/verify", members);
    }

    /**
     * Redeems the one-time code of a sign-in on the web, within two minutes. Error: `web_code_invalid`.
     * @param {string} code
     */
    webResult(code) {
        return this.#read("SignInOutcome", "POST", "/v1/web/results", { code });
    }

    // Accounts

    /**
     * Returns an account. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    async account(accountId) {
        return this.#read("Account", "GET", accountPath(accountId));
    }

    /**
     * Returns the account of Apple's user ID. Error: `account_not_found` (404).
     * @param {string} sub
     * @param {string} [clientId]
     */
    async accountOf(sub, clientId) {
        return this.#read("Account", "GET", withQuery("/v1/accounts", { ...this.#app(clientId), sub }));
    }

    /**
     * Searches accounts that match all parameters, newest first. A page has `limit` accounts, at most 100. For the next
     * page add `after: page.cursor` to the same parameters. docs/api.md explains them.
     * @param {AccountSearch} parameters
     */
    async findAccounts(parameters) {
        return this.#read("AccountPage", "GET", withQuery("/v1/accounts", { ...parameters }));
    }

    /**
     * Returns the state of the user's credential. For an unknown user it is `notFound`, and no error.
     * @param {string} sub
     * @param {string} [clientId]
     */
    async state(sub, clientId) {
        const path = `/v1/credentials/${segment(sub, "credential_not_found")}`;
        return this.#read("Credential", "GET", withQuery(path, this.#app(clientId)));
    }

    /**
     * Returns the states of any number of users, in the order of `subs`. One request asks for 1,000 of them.
     * @param {readonly string[]} subs
     * @param {string} [clientId]
     */
    async states(subs, clientId) {
        const found = [];
        for (let start = 0; start < subs.length; start += 1000) {
            const members = { ...this.#app(clientId), subs: subs.slice(start, start + 1000) };
            found.push(...(await this.#read("CredentialList", "POST", "/v1/credentials/query", members)).credentials);
        }
        return found;
    }

    /**
     * Disables an account in siwa. Errors: `account_not_found` (404), `disabling_over` (409).
     * @param {string} accountId
     * @param {import("./models.js").DisablingReason} reason
     * @param {Date | string} [until]  The time from which the account is enabled again.
     */
    async disable(accountId, reason, until) {
        const members = { reason, ...given({ until }, "until") };
        return this.#read("Account", "POST", `${accountPath(accountId)}/disable`, members, { canRepeat: false });
    }

    /**
     * Enables a disabled account. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    async enable(accountId) {
        return this.#read("Account", "POST", `${accountPath(accountId)}/enable`, {}, { canRepeat: false });
    }

    /**
     * Signs a user out everywhere: all receivers of events end the user's sessions. Error: `account_not_found` (404).
     * @param {string} accountId
     * @param {{ google?: boolean }} options  google: also ends the links with Google.
     */
    async signOut(accountId, { google = false } = {}) {
        // A repetition would also end the sessions that began in between.
        const options = { canRepeat: false };
        return this.#read("Account", "POST", `${accountPath(accountId)}/sign-out`, google ? { google } : {}, options);
    }

    /**
     * Erases an account, and revokes its tokens at Apple. A repetition returns the same report. If the report says
     * `user_must_revoke`, show its `instructions` to the user. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    async delete(accountId) {
        const options = { timeoutSeconds: 30 };
        return (await this.#read("ErasureResponse", "DELETE", accountPath(accountId), undefined, options)).erasure;
    }

    /**
     * Returns the report of an erasure as it is now. Error: `erasure_not_found` (404).
     * @param {string} erasureId
     */
    async erasure(erasureId) {
        const path = `/v1/erasures/${segment(erasureId, "erasure_not_found")}`;
        return (await this.#read("ErasureResponse", "GET", path)).erasure;
    }

    /**
     * Returns the OAuth clients that have access to the account, such as Google. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    async grants(accountId) {
        return (await this.#read("Grants", "GET", `${accountPath(accountId)}/grants`)).grants;
    }

    /**
     * Ends one grant with all its tokens. Errors: `account_not_found`, `grant_not_found` (404). After a lost response,
     * the repetition throws `grant_not_found`: the grant has ended.
     * @param {string} accountId
     * @param {string} grantId
     * @returns {Promise<void>}
     */
    async endGrant(accountId, grantId) {
        const path = `${accountPath(accountId)}/grants/${segment(grantId, "grant_not_found")}`;
        await this.#transport.call("DELETE", path);
    }

    // App Attest and App Flip

    /**
     * Makes a challenge for App Attest, valid for five minutes.
     * @param {"attestation" | "assertion"} purpose
     * @param {string} [clientId]
     */
    async makeChallenge(purpose, clientId) {
        return this.#read("Challenge", "POST", "/v1/app-attest/challenges", { purpose, ...this.#app(clientId) });
    }

    /**
     * Registers a key of the app. Error: `attestation_invalid` (401) with `cause` and `reAttest`, both for the app.
     * @param {unknown} form  The app's JSON with `key_id`, `attestation` and `challenge`.
     * @param {string} [clientId]
     */
    async registerKey(form, clientId) {
        const members = { ...given(form, "key_id", "attestation", "challenge"), ...this.#app(clientId) };
        return this.#read("KeyRegistration", "POST", "/v1/app-attest/keys", members);
    }

    /**
     * Returns the texts of the app's sheet, or the URL to open for a link that cannot succeed.
     * @param {unknown} form  The parameters of Google's universal link.
     * @param {Session} [session]  Without it only the link is checked.
     */
    async appFlipPrompt(form, session) {
        const members = { ...given(form, ...LINK), ...sessionMembers(session) };
        return this.#read("AppFlipPromptResponse", "POST", "/v1/oauth/app-flip/prompt", members);
    }

    /**
     * Answers Google with the user's decision, and returns the URL that the app opens.
     * @param {unknown} form  The parameters of the link, `decision` (`granted`, `denied` or `cancelled`), and optionally
     *   `granted_scopes` and a proof of App Attest.
     * @param {Session} [session]  Without it, `granted` needs a fresh `identity_token` with its `nonce` from makeNonce.
     */
    async appFlip(form, session) {
        const names = [...LINK, "decision", "granted_scopes", "attestation", "app_version"];
        const members = { ...given(form, ...names), ...sessionMembers(session) };
        if (!session?.accountId && given(form, "identity_token").identity_token) {
            const { authorization_code, ...token } = signInMembers(form, true);
            Object.assign(members, token);
        }
        return this.#read("AppFlipResponse", "POST", "/v1/oauth/app-flip", members, { canRepeat: false });
    }

    // Events

    /**
     * Reads the states of users, and returns the events that would have led to them. For `resync` of events.
     *
     * Each account has `account_disabled` or `account_enabled`; a state that is not `authorized` also has
     * `credential_revoked`, `account_deleted` or `account_erased`. There is no `sessions_ended`: its time is
     * `sessions_ended_at` of the account. The events have no ID.
     * @param {ReadonlyMap<string, { accountId: string, since?: Date }>} users  By sub, the account ID and the latest `since`
     *   of the user's sessions.
     * @returns {Promise<import("./models.js").Event[]>}
     */
    async missedEvents(users) {
        const now = new Date(this.#transport.clock.now() * 1000);
        return (await this.states([...users.keys()])).flatMap(({ sub, client_id, state, reason, since, account_disabled }) => {
            const event = { id: "", team_id: "", sub, client_id, reason, occurred_at: now, recorded_at: now,
                account_id: users.get(sub)?.accountId, type: account_disabled ? "account_disabled" : "account_enabled" };
            // For a user whom siwa does not know, the sessions from before the query end.
            const occurred_at = since ?? users.get(sub)?.since;
            const type = EVENT_OF_REASON[reason ?? ""] ?? "credential_revoked";
            return state !== "authorized" && occurred_at ? [event, { ...event, type, occurred_at }] : [event];
        });
    }

    /**
     * Verifies a webhook, and returns its event. An event can come twice: keep its `id` for 8 days.
     *
     * Respond with 2xx when the event is stored, otherwise siwa sends it again. Errors: `body_too_large` (413),
     * `webhook_headers_invalid`, `webhook_time_invalid`, `event_malformed` (400), `webhook_signature_invalid` (401).
     * Throws TypeError if the client has no secret.
     * @param {import("./webhooks.js").RequestHeaders} headers
     * @param {Uint8Array} rawBody  The bytes as they arrived.
     */
    async verifyWebhook(headers, rawBody) {
        return verifiedEvent(headers, rawBody, this.#webhookKeys, this.#transport.clock.now());
    }

    /**
     * All events, for `for await`, without an end. See Events.
     * @param {import("./events.js").CursorStore} cursorStore
     * @param {import("./events.js").EventOptions} [options]
     */
    events(cursorStore, options = {}) {
        return new Events(this.#transport, cursorStore, options);
    }

    // OAuth access tokens

    /**
     * Asks siwa whether an access token is valid now. Arguments and errors are those of verifyToken, and
     * `token_inactive` (401). Knows at once of a withdrawn consent.
     * @param {string | null | undefined} bearer
     * @param {string} audience
     * @param {readonly string[]} [scopes]
     */
    async introspect(bearer, audience, scopes = []) {
        const body = String(new URLSearchParams({ token: bearerToken(bearer) }));
        const options = { body, contentType: "application/x-www-form-urlencoded" };
        const token = decoded("IntrospectionResponse", await this.#transport.call("POST", "/oauth/introspect", options));
        // A refresh token has no token_type. No API accepts refresh tokens.
        check(token.active && token.token_type === "Bearer",
            "token_inactive", 401, "The token has ended, or is not an access token.");
        checkAudienceAndScopes(token, audience, scopes);
        return token;
    }

    /**
     * Verifies an access token by siwa's public keys, without a request for each token (RFC 9068). A token that has
     * ended is accepted until it expires, at most `access_token_lifetime` later: see introspect.
     *
     * Errors: `token_missing` and the codes of a refused token (401), `scope_missing` (403), `keys_unavailable` (503).
     * @param {string | null | undefined} bearer  The header `Authorization`.
     * @param {string} audience  The API's own name, compared with `aud`.
     * @param {readonly string[]} [scopes]  All of them are needed.
     */
    async verifyToken(bearer, audience, scopes = []) {
        return this.#tokens.verify(bearerToken(bearer), audience, scopes);
    }

    /** @param {string} [clientId] */
    #app(clientId = this.#clientId) {
        if (!clientId) throw new TypeError("SIWA_CLIENT_ID is missing: set it to the app's bundle ID, or use the option clientId");
        return { client_id: clientId };
    }

    /**
     * @template {keyof Models} Name
     * @param {Name} name
     * @param {string} method
     * @param {string} target
     * @param {Record<string, unknown>} [members]
     * @param {CallOptions} [options]
     */
    async #read(name, method, target, members, options) {
        return decoded(name, await this.#transport.call(method, target, { ...options, body: JSON.stringify(members) }));
    }
}

/** @param {string} accountId */
function accountPath(accountId) {
    return `/v1/accounts/${segment(accountId, "account_not_found")}`;
}

/**
 * An ID as one segment of a path. Throws the error for an ID with which the request would have another path, because
 * URLs lose these segments.
 * @param {string} id
 * @param {string} code
 */
function segment(id, code) {
    check(!["", ".", ".."].includes(id), code, 404, "The ID would change the path of the request.");
    return encoded(id);
}

/**
 * @param {string} path
 * @param {Record<string, unknown>} parameters
 */
function withQuery(path, parameters) {
    const texts = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null).map(
        ([name, value]) => `${name}=${encoded(value instanceof Date ? value.toISOString() : String(value))}`);
    return `${path}?${texts.sort().join("&")}`;
}

/** @param {string} text */
function encoded(text) {
    // Half of a surrogate pair would make encodeURIComponent throw, and it leaves five characters that RFC 3986 reserves.
    return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"))
        .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** @param {Session} session */
function sessionMembers({ accountId, authenticatedAt } = {}) {
    return given({ account_id: accountId, authenticated_at: authenticatedAt }, "account_id", "authenticated_at");
}

/**
 * Empty in a runtime without environment variables.
 * @param {string} name
 * @returns {string}
 */
function environment(name) {
    return /** @type {any} */ (globalThis).process?.env?.[name] ?? "";
}
