// The backend's own tables. This example keeps them in memory; yours are in a database.
//
// The password sign-in stands for the one that your backend may have. It reads its users from PASSWORD_USERS, as
// user_id:name:iterations:salt:hash with salt and hash in hexadecimal, separated by commas (PBKDF2 with HMAC-SHA-256).
import { createHash, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { SiwaError } from "siwa-client";

const users = new Map(); // user_id: { userId, accountId, teamId, sub, formerId }
const sessions = new Map(); // session_hash: { userId, since }
const revocations = new Map(); // account_id: occurred_at
const disabled = new Set(); // account_id
const handled = new Map(); // event_id: milliseconds, the oldest first
const millisecondsOfHandled = 8 * 86_400_000; // siwa sends an event again for seven days
const passwords = new Map(); // name: { userId, iterations, salt, hash }
for (const entry of (process.env.PASSWORD_USERS ?? "").split(",").filter(Boolean)) {
    const [userId, name, iterations, salt, hash] = entry.split(":");
    passwords.set(name, { userId, iterations: Number(iterations), salt: Buffer.from(salt, "hex"), hash: Buffer.from(hash, "hex") });
}
const unknown = { iterations: 600_000, salt: Buffer.from("unknown"), hash: Buffer.alloc(32) };

/** The position in the feed. */
export const cursor = { load: () => cursor.saved, save: (text) => void (cursor.saved = text) };

const refused = (status, code) => new SiwaError(code, status, "refused by the backend");
const digest = (session) => createHash("sha256").update(session).digest("hex");
const find = (condition) => [...users.values()].find(condition);

export const withAccount = (accountId) => find((user) => user.accountId === accountId);

function makeSession(userId, since) {
    const session = randomBytes(32).toString("base64url");
    sessions.set(digest(session), { userId, since });
    return { session, user_id: userId };
}

function rowOf(session) {
    const row = sessions.get(digest(session));
    if (!row) throw refused(401, "session_ended");
    return row;
}

/** The user of a session. */
export function userOf(session) {
    const user = users.get(rowOf(session).userId);
    // Until the account is enabled, when the session is good again.
    if (disabled.has(user.accountId)) throw refused(403, "account_disabled");
    return user;
}

/** siwa's ID of the account; empty for a user who has only a password. */
export const accountOf = (session) => userOf(session).accountId ?? "";

/** siwa's ID of the session's account, and the time of the sign-in with Apple. siwa decides about disabled accounts. */
export function appleAccountOf(session) {
    const { userId, since } = rowOf(session);
    const { accountId } = users.get(userId);
    if (!accountId) throw refused(409, "apple_account_missing"); // the user has only a password
    return { accountId, authenticatedAt: since };
}

export function shown(session) {
    const { userId, accountId } = userOf(session);
    return { user_id: userId, account_id: accountId };
}

/** Begins a session of the user with the Apple Account, or attaches the account to the user with this ID. */
export function signIn(userId, account, since) {
    // The event of a revocation can arrive before the response of the sign-in that it revokes.
    if (since <= revocations.get(account.id)) throw refused(401, "credential_revoked");
    // After a restore of siwa's database the same user can have another account ID, with the same sub.
    const owner = withAccount(account.id) ?? find(({ teamId, sub }) => teamId === account.team_id && sub === account.sub);
    const user = users.get(userId) ?? owner ?? { userId: `usr_${randomBytes(16).toString("hex")}` };
    // It belongs to another user, or this user has another one.
    if (owner ? owner !== user : user.accountId) throw refused(409, "other_apple_account");
    const formerId = user.accountId === account.id ? user.formerId : user.accountId;
    users.set(user.userId, Object.assign(user, { accountId: account.id, teamId: account.team_id, sub: account.sub, formerId }));
    return makeSession(user.userId, since);
}

export async function signInWithPassword(name, password) {
    const { userId, iterations, salt, hash } = passwords.get(name) ?? unknown;
    const isRight = timingSafeEqual(await promisify(pbkdf2)(password, salt, iterations, 32, "sha256"), hash);
    if (!isRight || !userId) throw refused(401, "password_wrong");
    if (!users.has(userId)) users.set(userId, { userId });
    return makeSession(userId);
}

/** Ends this session only: the account, the user's consent and other devices stay as they are. */
export function signOut(session) {
    sessions.delete(digest(session));
    return {};
}

/** Ends sessions that are not later than the event, because the user may have signed in again. */
export function endSessions(accountId, occurredAt, { evenOfPassword = false } = {}) {
    if (occurredAt > (revocations.get(accountId) ?? 0)) revocations.set(accountId, occurredAt);
    const user = withAccount(accountId);
    for (const [hash, { userId, since }] of sessions) {
        if (userId === user?.userId && (since ? since <= occurredAt : evenOfPassword)) sessions.delete(hash);
    }
}

export function setDisabled(accountId, isDisabled) {
    if (isDisabled) disabled.add(accountId);
    else disabled.delete(accountId);
}

export function move(accountId, teamId, sub) {
    const user = withAccount(accountId);
    if (user) Object.assign(user, { teamId, sub });
}

/** Deletes the user of an erased account, also one who has signed in again since the erasure and was found by sub. */
export function forget(accountId) {
    disabled.delete(accountId);
    const user = withAccount(accountId) ?? find(({ formerId }) => formerId === accountId);
    if (user) erase(user.userId);
}

export function remove(userId) {
    for (const [name, user] of passwords) if (user.userId === userId) passwords.delete(name);
    erase(userId);
}

/** A user who has a password stays, without the Apple Account. */
function erase(userId) {
    const hasPassword = [...passwords.values()].some((user) => user.userId === userId);
    for (const [hash, session] of sessions) {
        if (session.userId === userId && (session.since || !hasPassword)) sessions.delete(hash);
    }
    if (hasPassword) users.set(userId, { userId });
    else users.delete(userId);
}

/** For siwa.missedEvents: by sub, the account and the latest sign-in with Apple. */
export function withAppleAccounts() {
    const latest = new Map();
    for (const { userId, since } of sessions.values()) if (since > (latest.get(userId) ?? 0)) latest.set(userId, since);
    const found = [...users.values()].filter(({ sub }) => sub);
    return new Map(found.map(({ userId, accountId, sub }) => [sub, { accountId, since: latest.get(userId) }]));
}

/** An event that comes again is not handled again: later events may have come in between. */
export async function once(event, handle) {
    if (handled.has(event.id)) return;
    await handle(event);
    for (const [id, moment] of handled) if (moment < Date.now() - millisecondsOfHandled) handled.delete(id);
    handled.set(event.id, Date.now());
}
