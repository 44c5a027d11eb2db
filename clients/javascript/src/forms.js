// The JSON that apps send to their backend, in the forms of the usual libraries.
import { base64Bytes, isObject } from "./decoding.js";
import { check } from "./errors.js";

/** The parameters of Google's universal link. */
export const LINK = ["client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language", "code_challenge",
    "code_challenge_method"];

/**
 * The members with these names that have a value.
 * @param {unknown} form
 * @param {string[]} names
 * @returns {Record<string, any>}
 */
export function given(form, ...names) {
    const members = isObject(form) ? names.map((name) => [name, form[name] ?? undefined]) : [];
    // An empty text is absent, except for scopes: siwa grants all scopes without the member.
    return Object.fromEntries(members.filter(
        ([name, value]) => value !== undefined && (value !== "" || name === "granted_scopes")));
}

/**
 * The members of a sign-in, without the user. Throws SiwaError `member_missing` or `nonce_missing`.
 *
 * Accepts siwa's own names, those of expo-apple-authentication, react-native-apple-authentication, Flutter's
 * sign_in_with_apple and the plugins of Capacitor and Unity, and those of Apple's script for web pages.
 * @param {unknown} form
 * @param {boolean} mintedNonce
 */
export function signInMembers(form, mintedNonce) {
    const flat = flattened(form);
    const members = {
        identity_token: text(flat, "identity_token", "identityToken", "id_token", "_base64IdentityToken", "IdentityToken"),
        authorization_code: text(flat, "authorization_code", "authorizationCode", "code", "_base64AuthorizationCode",
            "AuthorizationCode"),
        ...given(flat, "nonce", "attestation", "app_version"),
    };
    check(typeof members.identity_token === "string",
        "member_missing", 400, "The form needs the member identity_token, a text.");
    // siwa limits only its own nonces to one sign-in. Without this check, a stolen token would pass together with the
    // digest that it contains.
    const { nonce } = /** @type {{ nonce?: unknown }} */ (members);
    check(!mintedNonce || (typeof nonce === "string" && nonce.startsWith("siwa-nonce-")),
        "nonce_missing", 400, "The form needs the nonce that makeNonce returned.");
    return given(members, ...Object.keys(members));
}

/**
 * The member `user` of a sign-in: Apple's object, or the parts of it that a library has put elsewhere.
 * @param {unknown} form
 */
export function userMembers(form) {
    const flat = flattened(form);
    const { user } = flat;
    // In most libraries `user` is Apple's user ID.
    if (isObject(user) || (typeof user === "string" && user.startsWith("{"))) return { user };
    const parts = given(flat, "name", "fullName", "givenName", "familyName", "given_name", "family_name", "email",
        "_fullName", "_email", "FullName", "Email");
    return Object.keys(parts).length > 0 ? { user: parts } : {};
}

/**
 * The form with the members of the object in which Capacitor or Apple's script wraps the credential.
 * @param {unknown} form
 */
function flattened(form) {
    let flat = isObject(form) ? form : {};
    for (const wrapper of ["response", "authorization"]) {
        const { [wrapper]: inner, ...outer } = flat;
        if (isObject(inner)) flat = { ...inner, ...outer };
    }
    return flat;
}

/**
 * The first value. Token and code have dots; in base64, as Swift and Unity write bytes, they have none.
 * @param {Record<string, any>} form
 * @param {string[]} names
 */
function text(form, ...names) {
    const [value] = Object.values(given(form, ...names));
    if (typeof value !== "string" || value.includes(".")) return value;
    const decoded = String.fromCharCode(...(base64Bytes(value) ?? []));
    return /^[\0-\x7f]*$/.test(decoded) && decoded.includes(".") ? decoded : value;
}
