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
    /**
     * Throws TypeError for a missing or malformed value.
     * @param {ClientOptions} [options]
     */
    constructor(options?: ClientOptions | undefined);
    /**
     * For the start of a backend. Throws SiwaError if siwa refuses the API key or the client ID, or if the URL is not siwa's,
     * and TypeError without a client ID. If siwa does not respond, logs a warning and returns, so that the backend can start.
     */
    check(): Promise<void>;
    /**
     * Makes a nonce for one sign-in within ten minutes. The app gives `nonce_sha256` to Apple, and posts `nonce` to the
     * backend together with the token.
     */
    makeNonce(): Promise<import("./models.js").Nonce>;
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
    signIn(form: unknown, { create, mintedNonce }?: {
        create?: boolean;
        mintedNonce?: boolean;
    }): Promise<import("./models.js").SignInOutcome>;
    /**
     * Verifies the identity token in the app's form, and stores nothing. The errors are those of signIn.
     * @param {unknown} form
     * @param {{ mintedNonce?: boolean }} options
     */
    verify(form: unknown, { mintedNonce }?: {
        mintedNonce?: boolean;
    }): Promise<import("./models.js").VerifiedIdentity>;
    /**
     * Redeems the one-time code of a sign-in on the web, within two minutes. Error: `web_code_invalid`.
     * @param {string} code
     */
    webResult(code: string): Promise<import("./models.js").SignInOutcome>;
    /**
     * Returns an account. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    account(accountId: string): Promise<import("./models.js").Account>;
    /**
     * Returns the account of Apple's user ID. Error: `account_not_found` (404).
     * @param {string} sub
     * @param {string} [clientId]
     */
    accountOf(sub: string, clientId?: string | undefined): Promise<import("./models.js").Account>;
    /**
     * Searches accounts that match all parameters, newest first. A page has `limit` accounts, at most 100. For the next
     * page add `after: page.cursor` to the same parameters. docs/api.md explains them.
     * @param {AccountSearch} parameters
     */
    findAccounts(parameters: AccountSearch): Promise<import("./models.js").AccountPage>;
    /**
     * Returns the state of the user's credential. For an unknown user it is `notFound`, and no error.
     * @param {string} sub
     * @param {string} [clientId]
     */
    state(sub: string, clientId?: string | undefined): Promise<import("./models.js").Credential>;
    /**
     * Returns the states of any number of users, in the order of `subs`. One request asks for 1,000 of them.
     * @param {readonly string[]} subs
     * @param {string} [clientId]
     */
    states(subs: readonly string[], clientId?: string | undefined): Promise<import("./models.js").CredentialOfSubject[]>;
    /**
     * Disables an account in siwa. Errors: `account_not_found` (404), `disabling_over` (409).
     * @param {string} accountId
     * @param {import("./models.js").DisablingReason} reason
     * @param {Date | string} [until]  The time from which the account is enabled again.
     */
    disable(accountId: string, reason: import("./models.js").DisablingReason, until?: string | Date | undefined): Promise<import("./models.js").Account>;
    /**
     * Enables a disabled account. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    enable(accountId: string): Promise<import("./models.js").Account>;
    /**
     * Signs a user out everywhere: all receivers of events end the user's sessions. Error: `account_not_found` (404).
     * @param {string} accountId
     * @param {{ google?: boolean }} options  google: also ends the links with Google.
     */
    signOut(accountId: string, { google }?: {
        google?: boolean;
    }): Promise<import("./models.js").Account>;
    /**
     * Erases an account, and revokes its tokens at Apple. A repetition returns the same report. If the report says
     * `user_must_revoke`, show its `instructions` to the user. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    delete(accountId: string): Promise<import("./models.js").Erasure>;
    /**
     * Returns the report of an erasure as it is now. Error: `erasure_not_found` (404).
     * @param {string} erasureId
     */
    erasure(erasureId: string): Promise<import("./models.js").Erasure>;
    /**
     * Returns the OAuth clients that have access to the account, such as Google. Error: `account_not_found` (404).
     * @param {string} accountId
     */
    grants(accountId: string): Promise<import("./models.js").Grant[]>;
    /**
     * Ends one grant with all its tokens. Errors: `account_not_found`, `grant_not_found` (404). After a lost response,
     * the repetition throws `grant_not_found`: the grant has ended.
     * @param {string} accountId
     * @param {string} grantId
     * @returns {Promise<void>}
     */
    endGrant(accountId: string, grantId: string): Promise<void>;
    /**
     * Makes a challenge for App Attest, valid for five minutes.
     * @param {"attestation" | "assertion"} purpose
     * @param {string} [clientId]
     */
    makeChallenge(purpose: "attestation" | "assertion", clientId?: string | undefined): Promise<import("./models.js").Challenge>;
    /**
     * Registers a key of the app. Error: `attestation_invalid` (401) with `cause` and `reAttest`, both for the app.
     * @param {unknown} form  The app's JSON with `key_id`, `attestation` and `challenge`.
     * @param {string} [clientId]
     */
    registerKey(form: unknown, clientId?: string | undefined): Promise<import("./models.js").KeyRegistration>;
    /**
     * Returns the texts of the app's sheet, or the URL to open for a link that cannot succeed.
     * @param {unknown} form  The parameters of Google's universal link.
     * @param {Session} [session]  Without it only the link is checked.
     */
    appFlipPrompt(form: unknown, session?: Session | undefined): Promise<import("./models.js").AppFlipPromptResponse>;
    /**
     * Answers Google with the user's decision, and returns the URL that the app opens.
     * @param {unknown} form  The parameters of the link, `decision` (`granted`, `denied` or `cancelled`), and optionally
     *   `granted_scopes` and a proof of App Attest.
     * @param {Session} [session]  Without it, `granted` needs a fresh `identity_token` with its `nonce` from makeNonce.
     */
    appFlip(form: unknown, session?: Session | undefined): Promise<import("./models.js").AppFlipResponse>;
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
    missedEvents(users: ReadonlyMap<string, {
        accountId: string;
        since?: Date;
    }>): Promise<import("./models.js").Event[]>;
    /**
     * Verifies a webhook, and returns its event. An event can come twice: keep its `id` for 8 days.
     *
     * Respond with 2xx when the event is stored, otherwise siwa sends it again. Errors: `body_too_large` (413),
     * `webhook_headers_invalid`, `webhook_time_invalid`, `event_malformed` (400), `webhook_signature_invalid` (401).
     * Throws TypeError if the client has no secret.
     * @param {import("./webhooks.js").RequestHeaders} headers
     * @param {Uint8Array} rawBody  The bytes as they arrived.
     */
    verifyWebhook(headers: import("./webhooks.js").RequestHeaders, rawBody: Uint8Array): Promise<import("./models.js").Event>;
    /**
     * All events, for `for await`, without an end. See Events.
     * @param {import("./events.js").CursorStore} cursorStore
     * @param {import("./events.js").EventOptions} [options]
     */
    events(cursorStore: import("./events.js").CursorStore, options?: import("./events.js").EventOptions | undefined): Events;
    /**
     * Asks siwa whether an access token is valid now. Arguments and errors are those of verifyToken, and
     * `token_inactive` (401). Knows at once of a withdrawn consent.
     * @param {string | null | undefined} bearer
     * @param {string} audience
     * @param {readonly string[]} [scopes]
     */
    introspect(bearer: string | null | undefined, audience: string, scopes?: readonly string[] | undefined): Promise<import("./models.js").IntrospectionResponse>;
    /**
     * Verifies an access token by siwa's public keys, without a request for each token (RFC 9068). A token that has
     * ended is accepted until it expires, at most `access_token_lifetime` later: see introspect.
     *
     * Errors: `token_missing` and the codes of a refused token (401), `scope_missing` (403), `keys_unavailable` (503).
     * @param {string | null | undefined} bearer  The header `Authorization`.
     * @param {string} audience  The API's own name, compared with `aud`.
     * @param {readonly string[]} [scopes]  All of them are needed.
     */
    verifyToken(bearer: string | null | undefined, audience: string, scopes?: readonly string[] | undefined): Promise<import("./models.js").IntrospectionResponse>;
    #private;
}
export type Models = import("./models.js").Models;
export type CallOptions = import("./transport.js").CallOptions;
/**
 * A missing option has the value of the environment variable.
 */
export type ClientOptions = {
    /**
     * SIWA_URL, such as `https://siwa.internal`.
     */
    url?: string | undefined;
    /**
     * SIWA_API_KEY.
     */
    apiKey?: string | undefined;
    /**
     * SIWA_CLIENT_ID: the app's bundle ID.
     */
    clientId?: string | undefined;
    /**
     * SIWA_ISSUER: the `iss` of access tokens. By default the URL.
     */
    issuer?: string | undefined;
    /**
     * SIWA_WEBHOOK_SECRETS: several with spaces between them.
     */
    webhookSecrets?: string | undefined;
    /**
     * For one attempt, whole: 12.
     */
    timeoutSeconds?: number | undefined;
    /**
     * How often a call is made at most: 3.
     */
    attempts?: number | undefined;
    /**
     * For a private certificate authority or a proxy.
     */
    fetch?: typeof fetch | undefined;
    /**
     * By default warnings go to `console.warn`.
     */
    logger?: import("./transport.js").Logger | undefined;
    clock?: import("./transport.js").Clock | undefined;
};
/**
 * The session of the user, never values that the app names.
 */
export type Session = {
    accountId?: string | undefined;
    /**
     * The time of the sign-in with Apple.
     */
    authenticatedAt?: string | Date | undefined;
};
export type AccountSearch = {
    email?: string | undefined;
    name?: string | undefined;
    grant_id?: string | undefined;
    client_id?: string | undefined;
    state?: string | undefined;
    reason?: string | undefined;
    disabled?: boolean | undefined;
    linked?: boolean | undefined;
    apple_token?: boolean | undefined;
    created_after?: string | Date | undefined;
    after?: string | undefined;
    limit?: number | undefined;
};
import { Events } from "./events.js";
