package siwa.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import siwa.client.Models.*;

/**
 * A client of one siwa service, for one app. Threads may share it.
 *
 * <p>Each method blocks, and throws {@link SiwaException}. Methods repeat a call after a lost response, a 429 or a 5xx:
 * after {@code Retry-After}, or else after 1 and 2 seconds. If siwa asks for more than 5 seconds, the exception has
 * {@code retryAfter}. Calls whose second execution would change something ({@code disable}, {@code enable},
 * {@code signOut}, {@code appFlip}) are only repeated if siwa certainly did not execute them.
 *
 * <p>No argument is null unless its method says so. No method returns null: values that can be absent are
 * {@link java.util.Optional}.
 */
public final class SiwaClient {
    /** The version of this package. */
    public static final String VERSION = "0.1.0";
    /** The version of siwa's interface that this package was written for. */
    public static final int API_VERSION = 1;

    /** A difference from the usual sign-in. */
    public enum SignInOption {
        /** Signs in only users who have an account; for others the error is {@code account_not_found} (404). */
        KNOWN_USERS_ONLY,
        /** The backend makes its own nonces, and accepts each only once. */
        OWN_NONCE
    }

    private final Transport transport;
    private final Transport.Clock clock;
    private final AccessTokens tokens;
    private final String clientId;
    private final List<byte[]> webhookKeys;

    private SiwaClient(Builder options) {
        clock = options.clock;
        transport = new Transport(options.url, options.apiKey, options.timeout, options.attempts, options.tls, clock);
        clientId = options.clientId;
        webhookKeys = options.webhookSecrets.isBlank() ? List.of() : Webhooks.keys(options.webhookSecrets);
        String issuer = options.issuer.isEmpty() ? options.url.replaceAll("/+$", "") : options.issuer;
        tokens = new AccessTokens(transport, issuer, clock);
    }

    private SiwaClient(SiwaClient other, String clientId) {
        transport = other.transport;
        clock = other.clock;
        tokens = other.tokens;
        webhookKeys = other.webhookKeys;
        this.clientId = clientId;
    }

    /** The same client for another app: its bundle ID or Services ID. */
    public SiwaClient forApp(String clientId) { return new SiwaClient(this, clientId); }

    /** A client whose options are in the environment: see {@link Builder}. */
    public static SiwaClient fromEnvironment() { return builder().build(); }

    /** The options of a client. It begins with those of the environment. */
    public static Builder builder() { return new Builder(); }

    /** The options of a client. */
    public static final class Builder {
        private String url = variable("SIWA_URL");
        private String apiKey = variable("SIWA_API_KEY");
        private String clientId = variable("SIWA_CLIENT_ID");
        private String issuer = variable("SIWA_ISSUER");
        private String webhookSecrets = variable("SIWA_WEBHOOK_SECRETS");
        private Duration timeout = Duration.ofSeconds(12);
        private int attempts = 3;
        private SSLContext tls;
        private Transport.Clock clock = new Transport.Clock();

        private Builder() {}

        private static String variable(String name) { return Optional.ofNullable(System.getenv(name)).orElse(""); }

        /** siwa's address. By default {@code SIWA_URL}. */
        public Builder url(String value) { url = value; return this; }

        /** By default {@code SIWA_API_KEY}. */
        public Builder apiKey(String value) { apiKey = value; return this; }

        /** The app's bundle ID. By default {@code SIWA_CLIENT_ID}. */
        public Builder clientId(String value) { clientId = value; return this; }

        /** The {@code iss} of access tokens. By default {@code SIWA_ISSUER}, or else the URL. */
        public Builder issuer(String value) { issuer = value; return this; }

        /** Several have spaces between them. By default {@code SIWA_WEBHOOK_SECRETS}. */
        public Builder webhookSecrets(String value) { webhookSecrets = value; return this; }

        /** The limit of one attempt, from the connection to the last byte. By default 12 seconds. */
        public Builder timeout(Duration value) { timeout = value; return this; }

        /** How often a call is made at most. By default 3. */
        public Builder attempts(int value) { attempts = value; return this; }

        /** For a private certificate authority. By default {@link SSLContext#getDefault}. */
        public Builder sslContext(SSLContext value) { tls = value; return this; }

        Builder clock(Transport.Clock value) { clock = value; return this; }

        /** Throws IllegalArgumentException for a missing or malformed option. */
        public SiwaClient build() { return new SiwaClient(this); }
    }

    /**
     * For the start of a backend: throws SiwaException if siwa refuses the key or the client ID, or if the URL is not
     * siwa's, and IllegalStateException without a client ID. Returns if siwa does not respond.
     */
    public void check() {
        try {
            state("check"); // unknown to Apple, which is no error
        } catch (SiwaException error) {
            if (!error.isTemporary()) {
                throw error;
            }
        }
    }

    // Signing in

    /**
     * Makes a nonce for one sign-in within ten minutes. The app gives {@code nonceSha256} to Apple, and posts
     * {@code nonce} to the backend together with the token.
     */
    public Nonce makeNonce() { return read(Nonce::new, post("/v1/nonces", Map.of())); }

    /**
     * Verifies the identity token in the app's form, and returns the user's account.
     *
     * <p>Errors without a request: {@code member_missing}, {@code nonce_missing}. From siwa: the codes of a refused token
     * (401), {@code credential_revoked} and {@code account_disabled} (403). A sign-in is repeated like any other call.
     * After a lost response the repetition can get {@code nonce_used}; the app then starts again with a new nonce.
     */
    public SignInOutcome signIn(Form form, SignInOption... options) {
        Map<String, Object> members = signInMembers(form, options);
        members.putAll(form.userMembers());
        if (List.of(options).contains(SignInOption.KNOWN_USERS_ONLY)) {
            members.put("create", false);
        }
        return read(SignInOutcome::new, post("/v1/sign-ins", members));
    }

    /** Verifies the identity token in the app's form, and stores nothing. The errors are those of {@link #signIn}. */
    public VerifiedIdentity verify(Form form, SignInOption... options) {
        return read(VerifiedIdentity::new, post("/v1/identity-tokens/verify", signInMembers(form, options)));
    }

    /** Redeems the one-time code of a sign-in on the web, within two minutes. Error: {@code web_code_invalid}. */
    public SignInOutcome webResult(String code) {
        return read(SignInOutcome::new, post("/v1/web/results", Map.of("code", code)));
    }

    // Accounts

    /** Returns an account. Error: {@code account_not_found} (404). */
    public Account account(String accountId) { return read(Account::new, get(path(accountId))); }

    /** Returns the account of Apple's user ID. Error: {@code account_not_found} (404). */
    public Account accountOf(String sub) {
        return read(Account::new, get("/v1/accounts" + query(app(Map.of("sub", sub)))));
    }

    /**
     * Searches accounts, newest first, at most 100 in a page. docs/api.md lists the parameters. For the next page add
     * {@code after} with the page's cursor. Values are strings, numbers, booleans and Instants.
     */
    public AccountPage findAccounts(Map<String, ?> parameters) {
        return read(AccountPage::new, get("/v1/accounts" + query(parameters)));
    }

    /** Returns the state of the user's credential. For an unknown user it is {@code notFound}, and no error. */
    public Credential state(String sub) {
        return read(Credential::new, get("/v1/credentials/" + segment(sub, "credential_not_found") + query(app(Map.of()))));
    }

    /** Returns the states of any number of users, in the order of {@code subs}. One request asks for 1,000 of them. */
    public List<CredentialOfSubject> states(List<String> subs) {
        List<CredentialOfSubject> states = new ArrayList<>();
        for (int start = 0; start < subs.size(); start += 1000) {
            List<String> part = subs.subList(start, Math.min(start + 1000, subs.size()));
            states.addAll(read(CredentialList::new,
                    post("/v1/credentials/query", app(Map.of("subs", part)))).credentials());
        }
        return states;
    }

    /**
     * Disables an account in siwa. reason: a value of {@link DisablingReason}. Errors: {@code account_not_found} (404),
     * {@code disabling_over} (409).
     */
    public Account disable(String accountId, String reason) { return disable(accountId, reason, null); }

    /** The same until a time, from which the account is enabled again. Null means for ever. */
    public Account disable(String accountId, String reason, Instant until) {
        return read(Account::new,
                post(path(accountId) + "/disable", members("reason", reason, "until", until)).once());
    }

    /** Enables a disabled account. Error: {@code account_not_found} (404). */
    public Account enable(String accountId) {
        return read(Account::new, post(path(accountId) + "/enable", Map.of()).once());
    }

    /**
     * Signs a user out everywhere: all receivers of events end the user's sessions. Error: {@code account_not_found}
     * (404).
     */
    public Account signOut(String accountId) { return signOut(accountId, false); }

    /** The same. google: also ends the links with Google. */
    public Account signOut(String accountId, boolean google) {
        // A repetition would also end the sessions that began in between.
        return read(Account::new, post(path(accountId) + "/sign-out", google ? Map.of("google", true) : Map.of()).once());
    }

    /**
     * Erases an account, and revokes its tokens at Apple. A repetition returns the same report. If the report says
     * {@code userMustRevoke}, show its {@code instructions} to the user. Error: {@code account_not_found} (404).
     */
    public Erasure delete(String accountId) {
        return read(ErasureResponse::new,
                new Transport.Call("DELETE", path(accountId)).within(Duration.ofSeconds(30))).erasure();
    }

    /** Returns the report of an erasure as it is now. Error: {@code erasure_not_found} (404). */
    public Erasure erasure(String erasureId) {
        return read(ErasureResponse::new, get("/v1/erasures/" + segment(erasureId, "erasure_not_found"))).erasure();
    }

    /** Returns the OAuth clients that have access to the account, such as Google. Error: {@code account_not_found}. */
    public List<Grant> grants(String accountId) {
        return read(Grants::new, get(path(accountId) + "/grants")).grants();
    }

    /**
     * Ends one grant with all its tokens. Errors: {@code account_not_found}, {@code grant_not_found} (404). After a lost
     * response, the repetition throws {@code grant_not_found}: the grant has ended.
     */
    public void endGrant(String accountId, String grantId) {
        transport.send(new Transport.Call("DELETE", path(accountId) + "/grants/" + segment(grantId, "grant_not_found")));
    }

    // App Attest and App Flip

    /** Makes a challenge for App Attest, valid for five minutes. purpose: {@code attestation} or {@code assertion}. */
    public Challenge makeChallenge(String purpose) {
        return read(Challenge::new, post("/v1/app-attest/challenges", app(Map.of("purpose", purpose))));
    }

    /**
     * Registers a key of the app. form: the app's JSON with {@code key_id}, {@code attestation} and {@code challenge}.
     * Error: {@code attestation_invalid} (401) with {@code attestationCause} and {@code reAttest}, both for the app.
     */
    public KeyRegistration registerKey(Form form) {
        return read(KeyRegistration::new,
                post("/v1/app-attest/keys", app(form.given("key_id", "attestation", "challenge"))));
    }

    /**
     * Returns the texts of the app's sheet, or the URL to open for a link that cannot succeed.
     *
     * @param form the parameters of Google's universal link
     * @param accountId that of the session, never the app's. Null: only the link is checked
     * @param authenticatedAt the user's last sign-in in this session. Null if unknown
     */
    public AppFlipPromptResponse appFlipPrompt(Form form, String accountId, Instant authenticatedAt) {
        Map<String, Object> members = form.given(Form.LINK);
        members.putAll(session(accountId, authenticatedAt));
        return read(AppFlipPromptResponse::new, post("/v1/oauth/app-flip/prompt", members));
    }

    /**
     * Answers Google with the user's decision, and returns the URL that the app opens.
     *
     * @param form the parameters of the link, {@code decision} ({@code granted}, {@code denied} or {@code cancelled}), and
     *     optionally {@code granted_scopes} and a proof of App Attest
     * @param accountId that of the session, never the app's. If null or empty, {@code granted} needs a fresh
     *     {@code identity_token} with its {@code nonce} from makeNonce
     * @param authenticatedAt the user's last sign-in in this session. Null if unknown
     */
    public AppFlipResponse appFlip(Form form, String accountId, Instant authenticatedAt) {
        Map<String, Object> members = form.given(Form.LINK);
        members.putAll(form.given("decision", "granted_scopes", "attestation", "app_version"));
        members.putAll(session(accountId, authenticatedAt));
        if (!members.containsKey("account_id") && !form.given("identity_token").isEmpty()) {
            members.putAll(form.signInMembers(true));
            members.remove("authorization_code");
        }
        return read(AppFlipResponse::new, post("/v1/oauth/app-flip", members).once());
    }

    // Events

    /**
     * Verifies a webhook, and returns its event. An event can come twice: keep its {@code id} for 8 days. Respond with
     * 2xx when the event is stored, otherwise siwa sends it again.
     *
     * <p>Errors: {@code body_too_large} (413), {@code webhook_headers_invalid}, {@code webhook_time_invalid},
     * {@code event_malformed} (400), {@code webhook_signature_invalid} (401).
     *
     * @param header returns the value of a header, or null, and ignores the case of names: {@code request::getHeader} of a
     *     servlet, {@code headers::getFirst} of Spring or of the JDK's server
     * @param rawBody the bytes as they arrived
     * @throws IllegalStateException if the client has no webhook secret
     */
    public Event verifyWebhook(Function<String, String> header, byte[] rawBody) {
        if (webhookKeys.isEmpty()) {
            throw new IllegalStateException("missing environment variables: SIWA_WEBHOOK_SECRETS");
        }
        return Webhooks.verified(header, rawBody, webhookKeys, clock.now());
    }

    /** The same with all headers in a map, whose names have any case. */
    public Event verifyWebhook(Map<String, String> headers, byte[] rawBody) {
        Map<String, String> anyCase = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        anyCase.putAll(headers);
        return verifyWebhook(anyCase::get, rawBody);
    }

    /** Iterates over all events, for ever. */
    public Events events(Events.CursorStore store) { return new Events(transport, clock, store); }

    /** A user whose events a backend may have missed. */
    public static final class KnownUser {
        private final String accountId;
        private final Instant since;

        /** since: the latest {@code since} of the user's sessions. Null without a session. */
        public KnownUser(String accountId, Instant since) {
            this.accountId = accountId;
            this.since = since;
        }
    }

    /**
     * Reads the states of users by their sub, and returns the events that would have led to the states, for
     * {@link Events#resync}. Each account has {@code account_disabled} or {@code account_enabled}; a state that is not
     * {@code authorized} also has {@code credential_revoked}, {@code account_deleted} or {@code account_erased}. There is
     * no {@code sessions_ended}: its time is {@code sessionsEndedAt} of the account. The events have an empty ID.
     */
    public List<Event> missedEvents(Map<String, KnownUser> users) {
        List<Event> events = new ArrayList<>();
        for (CredentialOfSubject credential : states(List.copyOf(users.keySet()))) {
            KnownUser user = users.get(credential.sub());
            events.add(missed(credential, user, clock.now(), credential.accountDisabled().isPresent()
                    ? EventType.ACCOUNT_DISABLED : EventType.ACCOUNT_ENABLED));
            // For a user whom siwa does not know, the sessions from before the query end.
            Instant moment = credential.since().orElse(user.since);
            if (!credential.state().equals(CredentialState.AUTHORIZED) && moment != null) {
                String reason = credential.reason().orElse("");
                events.add(missed(credential, user, moment, reason.equals(CredentialReason.ERASED) ? EventType.ACCOUNT_ERASED
                        : reason.equals(CredentialReason.APPLE_ACCOUNT_DELETED) ? EventType.ACCOUNT_DELETED
                        : EventType.CREDENTIAL_REVOKED));
            }
        }
        return events;
    }

    private static Event missed(CredentialOfSubject credential, KnownUser user, Instant moment, String type) {
        String time = Model.timeText(moment);
        return new Event(Map.of("id", "", "type", type, "team_id", "", "occurred_at", time, "recorded_at", time,
                "sub", credential.sub(), "account_id", user.accountId, "client_id", credential.clientId()));
    }

    // OAuth access tokens

    /**
     * Asks siwa whether an access token is valid now. Arguments and errors are those of {@link #verifyToken}, and
     * {@code token_inactive} (401). Knows at once of a withdrawn consent.
     */
    public IntrospectionResponse introspect(String authorization, String audience, Collection<String> scopes) {
        IntrospectionResponse token = read(IntrospectionResponse::new, new Transport.Call("POST", "/oauth/introspect").body(
                "application/x-www-form-urlencoded", "token=" + encoded(AccessTokens.bearerToken(authorization))));
        // A refresh token has no token_type. No API accepts refresh tokens.
        if (!token.active() || !token.tokenType().filter("Bearer"::equals).isPresent()) {
            throw new SiwaException("token_inactive", 401, "the token has ended, or is not an access token");
        }
        AccessTokens.checkAudienceAndScopes(token, audience, scopes);
        return token;
    }

    /**
     * Verifies an access token by siwa's public keys, without a request for each token (RFC 9068). A token that has ended
     * is accepted until it expires, at most {@code access_token_lifetime} later: see {@link #introspect}.
     *
     * <p>Errors: {@code token_missing} and the codes of a refused token (401), {@code scope_missing} (403),
     * {@code keys_unavailable} (503).
     *
     * @param authorization the header {@code Authorization}, or null
     * @param audience the API's own name, compared with {@code aud}
     * @param scopes all of them are needed
     */
    public IntrospectionResponse verifyToken(String authorization, String audience, Collection<String> scopes) {
        return tokens.verified(AccessTokens.bearerToken(authorization), audience, scopes);
    }

    private Map<String, Object> signInMembers(Form form, SignInOption... options) {
        return app(form.signInMembers(!List.of(options).contains(SignInOption.OWN_NONCE)));
    }

    private Map<String, Object> app(Map<String, ?> members) {
        if (clientId.isEmpty()) {
            throw new IllegalStateException("missing environment variables: SIWA_CLIENT_ID");
        }
        Map<String, Object> all = new TreeMap<>(members);
        all.put("client_id", clientId);
        return all;
    }

    /** Two members, without those that are null. */
    private static Map<String, Object> session(String accountId, Instant authenticatedAt) {
        return members("account_id", "".equals(accountId) ? null : accountId, "authenticated_at", authenticatedAt);
    }

    private static Map<String, Object> members(String name, Object value, String otherName, Object otherValue) {
        Map<String, Object> members = new TreeMap<>();
        members.put(name, value);
        members.put(otherName, otherValue);
        members.values().removeIf(Objects::isNull);
        return members;
    }

    private static Transport.Call get(String target) { return new Transport.Call("GET", target); }

    private static Transport.Call post(String target, Map<String, ?> members) {
        return new Transport.Call("POST", target).body("application/json", Json.write(members));
    }

    private <T> T read(Function<Object, T> model, Transport.Call call) {
        return decoded(model, transport.send(call));
    }

    static <T> T decoded(Function<Object, T> model, Object json) {
        try {
            return model.apply(json);
        } catch (IllegalArgumentException error) {
            throw new SiwaException("unexpected_response", null, error.getMessage());
        }
    }

    private static String path(String accountId) {
        return "/v1/accounts/" + segment(accountId, "account_not_found");
    }

    private static String segment(String identifier, String code) {
        // A proxy would remove these segments, and the request would have another path.
        if (identifier.isEmpty() || identifier.equals(".") || identifier.equals("..")) {
            throw new SiwaException(code, 404, "the ID would change the path of the request");
        }
        return encoded(identifier);
    }

    private static String query(Map<String, ?> parameters) {
        List<String> pairs = new ArrayList<>();
        new TreeMap<>(parameters).forEach((name, value) -> pairs.add(encoded(name) + "="
                + encoded(value instanceof Instant ? Model.timeText((Instant) value) : String.valueOf(value))));
        return "?" + String.join("&", pairs);
    }

    /** Percent-encoded but for unreserved characters (RFC 3986 section 2.3). */
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }
}
