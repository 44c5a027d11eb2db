package siwa.client;

import java.nio.charset.StandardCharsets;
import java.util.*;

/**
 * The JSON that an app sends to its backend: siwa's own names, those of expo-apple-authentication,
 * react-native-apple-authentication, Flutter's sign_in_with_apple and the plugins of Capacitor and Unity, and those of
 * Apple's script for web pages.
 */
public final class Form {
    /** The parameters of Google's universal link. */
    static final String[] LINK = {"client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language",
        "code_challenge", "code_challenge_method"};

    private final Map<String, Object> members = new LinkedHashMap<>();

    private Form(Object value) {
        if (value instanceof Map) {
            ((Map<?, ?>) value).forEach((name, member) -> members.put(String.valueOf(name), member));
        }
    }

    /** The body of the app's request. A text that is no JSON object lacks all members. */
    public static Form of(String json) {
        try {
            return new Form(Json.read(json));
        } catch (IllegalArgumentException error) {
            return new Form(null);
        }
    }

    /** The body that a JSON library or a web form has read. Values are strings, numbers, booleans, maps and lists. */
    public static Form of(Map<String, ?> members) { return new Form(members); }

    /** A text that the app has sent, such as {@code decision}. Empty for an absent member, or one of another type. */
    public String text(String name) {
        return members.get(name) instanceof String ? (String) members.get(name) : "";
    }

    /** The members with these names that have a value. Without {@code granted_scopes} siwa grants all, so "" is one. */
    Map<String, Object> given(String... names) {
        Map<String, Object> given = new LinkedHashMap<>();
        for (String name : names) {
            Object value = members.get(name);
            if (value != null && (!value.equals("") || name.equals("granted_scopes"))) {
                given.put(name, value);
            }
        }
        return given;
    }

    /** The members of a sign-in, without the user. Throws {@code member_missing} or {@code nonce_missing}. */
    Map<String, Object> signInMembers(boolean hasMintedNonce) {
        Form form = flattened();
        Map<String, Object> posted = form.given("nonce", "attestation", "app_version");
        posted.put("identity_token", form.token("identity_token", "identityToken", "id_token",
                "_base64IdentityToken", "IdentityToken"));
        posted.put("authorization_code", form.token("authorization_code", "authorizationCode", "code",
                "_base64AuthorizationCode", "AuthorizationCode"));
        if (!(posted.get("identity_token") instanceof String)) {
            throw new SiwaException("member_missing", 400, "the form needs the member identity_token, a text");
        }
        // siwa limits only its own nonces to one sign-in. Without this check, a stolen token would pass together with
        // the digest that it contains.
        if (hasMintedNonce && !String.valueOf(posted.get("nonce")).startsWith("siwa-nonce-")) {
            throw new SiwaException("nonce_missing", 400, "the form needs the nonce that makeNonce returned");
        }
        posted.values().removeIf(Objects::isNull);
        return posted;
    }

    /** The member {@code user} of a sign-in: Apple's object, or the parts of it that a library has put elsewhere. */
    Map<String, Object> userMembers() {
        Form form = flattened();
        Object user = form.members.get("user");
        // In most libraries the user is Apple's user ID.
        if (user instanceof Map || user instanceof String && ((String) user).startsWith("{")) {
            return Map.of("user", user);
        }
        Map<String, Object> parts =
                form.given("name", "fullName", "givenName", "familyName", "given_name", "family_name", "email",
                        "_fullName", "_email", "FullName", "Email");
        return parts.isEmpty() ? Map.of() : Map.of("user", parts);
    }

    /** The form with the members of the object in which Capacitor or Apple's script wraps the credential. */
    private Form flattened() {
        Form flat = this;
        for (String wrapper : List.of("response", "authorization")) {
            Form outer = new Form(flat.members);
            Object inner = outer.members.remove(wrapper);
            if (inner instanceof Map) {
                flat = new Form(inner);
                flat.members.putAll(outer.members);
            }
        }
        return flat;
    }

    /** The first value. Token and code have dots; in base64, as Swift and Unity write bytes, they have none. */
    private Object token(String... names) {
        Object value = given(names).values().stream().findFirst().orElse(null);
        if (value instanceof String && ((String) value).indexOf('.') < 0) {
            try {
                String text = new String(Base64.getDecoder().decode((String) value), StandardCharsets.UTF_8);
                return text.indexOf('.') >= 0 && text.chars().allMatch(character -> character < 128) ? text : value;
            } catch (IllegalArgumentException isNoBase64) {
                return value;
            }
        }
        return value;
    }
}
