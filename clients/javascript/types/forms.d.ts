/**
 * The members with these names that have a value.
 * @param {unknown} form
 * @param {string[]} names
 * @returns {Record<string, any>}
 */
export function given(form: unknown, ...names: string[]): Record<string, any>;
/**
 * The members of a sign-in, without the user. Throws SiwaError `member_missing` or `nonce_missing`.
 *
 * Accepts siwa's own names, those of expo-apple-authentication, react-native-apple-authentication, Flutter's
 * sign_in_with_apple and the plugins of Capacitor and Unity, and those of Apple's script for web pages.
 * @param {unknown} form
 * @param {boolean} mintedNonce
 */
export function signInMembers(form: unknown, mintedNonce: boolean): Record<string, any>;
/**
 * The member `user` of a sign-in: Apple's object, or the parts of it that a library has put elsewhere.
 * @param {unknown} form
 */
export function userMembers(form: unknown): {
    user: string | Record<string, any>;
} | {
    user?: undefined;
};
/** The parameters of Google's universal link. */
export const LINK: string[];
