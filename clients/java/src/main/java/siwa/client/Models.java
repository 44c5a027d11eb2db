package siwa.client;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The models of siwa's responses. scripts/client-models makes this file from docs/openapi.yaml.
 *
 * <p>A member that siwa leaves out is empty. Times are in UTC, with milliseconds. Texts that have a class of values
 * below can get further values without a new version.
 */
public final class Models {
    private Models() {}

    /** Known values. */
    public static final class CredentialReason {
        private CredentialReason() {}

        public static final String SIGNED_IN = "signed_in";
        public static final String CONSENT_REVOKED = "consent_revoked";
        public static final String APPLE_ACCOUNT_DELETED = "apple_account_deleted";
        public static final String REFRESH_TOKEN_REJECTED = "refresh_token_rejected";
        public static final String ERASED = "erased";
    }

    /** Known values. */
    public static final class CredentialSource {
        private CredentialSource() {}

        public static final String SIGN_IN = "sign_in";
        public static final String NOTIFICATION = "notification";
        public static final String DAILY_CHECK = "daily_check";
        public static final String ERASURE = "erasure";
    }

    /**
     * Known values. The values of <code>getCredentialState</code>. The user may stay signed in only with
     * <code>authorized</code>.
     */
    public static final class CredentialState {
        private CredentialState() {}

        public static final String AUTHORIZED = "authorized";
        public static final String REVOKED = "revoked";
        public static final String NOT_FOUND = "notFound";
    }

    /**
     * Known values. <code>abuse</code>: the user broke the rules of the app; <code>security</code>: another person
     * may use the account; <code>requested</code>: the user asked for it.
     */
    public static final class DisablingReason {
        private DisablingReason() {}

        public static final String ABUSE = "abuse";
        public static final String FRAUD = "fraud";
        public static final String SECURITY = "security";
        public static final String PAYMENT = "payment";
        public static final String LEGAL = "legal";
        public static final String REQUESTED = "requested";
        public static final String OTHER = "other";
    }

    /** Known values. Apple's forwarding of e-mail from the relay address. */
    public static final class EmailForwarding {
        private EmailForwarding() {}

        public static final String ENABLED = "enabled";
        public static final String DISABLED = "disabled";
        public static final String UNKNOWN = "unknown";
    }

    /** Known values. */
    public static final class ErasureOutcome {
        private ErasureOutcome() {}

        public static final String PENDING = "pending";
        public static final String REVOKED_AND_PROVEN = "revoked_and_proven";
        public static final String NOT_REVOKED = "not_revoked";
    }

    /** Known values. */
    public static final class ErasureState {
        private ErasureState() {}

        public static final String IN_PROGRESS = "in_progress";
        public static final String COMPLETED = "completed";
    }

    /** Known values. */
    public static final class EventType {
        private EventType() {}

        public static final String ACCOUNT_CREATED = "account_created";
        public static final String CREDENTIAL_AUTHORIZED = "credential_authorized";
        public static final String CREDENTIAL_REVOKED = "credential_revoked";
        public static final String EMAIL_CHANGED = "email_changed";
        public static final String EMAIL_FORWARDING_CHANGED = "email_forwarding_changed";
        public static final String PROFILE_CHANGED = "profile_changed";
        public static final String ACCOUNT_DELETED = "account_deleted";
        public static final String ACCOUNT_ERASED = "account_erased";
        public static final String ACCOUNT_TRANSFERRED = "account_transferred";
        public static final String GRANT_CREATED = "grant_created";
        public static final String GRANT_REVOKED = "grant_revoked";
        public static final String ACCOUNT_DISABLED = "account_disabled";
        public static final String ACCOUNT_ENABLED = "account_enabled";
        public static final String SESSIONS_ENDED = "sessions_ended";
        public static final String TOKEN_REVOKED = "token_revoked";
    }

    /** Known values. */
    public static final class GrantEndReason {
        private GrantEndReason() {}

        public static final String UNLINKED = "unlinked";
        public static final String CLIENT_REVOKED = "client_revoked";
        public static final String TOKEN_REUSED = "token_reused";
        public static final String REPLACED = "replaced";
        public static final String GOOGLE_REVOKED = "google_revoked";
        public static final String CONSENT_REVOKED = "consent_revoked";
        public static final String APPLE_ACCOUNT_DELETED = "apple_account_deleted";
        public static final String ERASED = "erased";
        public static final String SIGNED_OUT = "signed_out";
    }

    /** Known values. The reason why there is no refresh token. Only with <code>unavailable</code>. */
    public static final class RefreshTokenCause {
        private RefreshTokenCause() {}

        public static final String NO_SEALING_KEY = "no_sealing_key";
        public static final String NO_SIGNING_KEY = "no_signing_key";
        public static final String CODE_REJECTED = "code_rejected";
        public static final String CODE_EXPIRED = "code_expired";
        public static final String EXCHANGE_UNCERTAIN = "exchange_uncertain";
        public static final String CLIENT_REJECTED = "client_rejected";
        public static final String IDENTITY_MISMATCH = "identity_mismatch";
        public static final String REJECTED = "rejected";
        public static final String CREDENTIAL_REVOKED = "credential_revoked";
        public static final String TRANSFERRED = "transferred";
        public static final String SEALED_UNREADABLE = "sealed_unreadable";
    }

    /** Known values. Absent when no authorization code was ever posted. */
    public static final class RefreshTokenState {
        private RefreshTokenState() {}

        public static final String HELD = "held";
        public static final String PENDING = "pending";
        public static final String UNAVAILABLE = "unavailable";
    }

    /**
     * Known values. The reason why the revocation of a token is not proven, or why there was no token: a cause of
     * <code>refresh_token_cause</code>, one of Apple's error codes, a failure of the request to Apple, or one of
     * these values.
     */
    public static final class RevocationCause {
        private RevocationCause() {}

        public static final String STILL_VALID = "still_valid";
        public static final String NO_TOKEN = "no_token";
        public static final String UNREACHABLE = "unreachable";
        public static final String CIRCUIT_OPEN = "circuit_open";
        public static final String TIMED_OUT = "timed_out";
        public static final String CONNECTION_LOST = "connection_lost";
        public static final String ANSWER_UNUSABLE = "answer_unusable";
        public static final String SERVER_FAILED = "server_failed";
        public static final String THROTTLED = "throttled";
        public static final String SIGNING_FAILED = "signing_failed";
        public static final String INVALID_CLIENT = "invalid_client";
        public static final String INVALID_GRANT = "invalid_grant";
        public static final String INVALID_REQUEST = "invalid_request";
        public static final String UNAUTHORIZED_CLIENT = "unauthorized_client";
        public static final String UNSUPPORTED_GRANT_TYPE = "unsupported_grant_type";
        public static final String INVALID_SCOPE = "invalid_scope";
    }

    /** See Account in siwa's OpenAPI document. */
    public static final class Account extends Model {
        private final String id = required("id", Model::text);
        private final String teamId = required("team_id", Model::text);
        private final String sub = required("sub", Model::text);
        private final String emailForwarding = required("email_forwarding", Model::text);
        private final Instant createdAt = required("created_at", Model::time);
        private final List<Credential> credentials = required("credentials", list(Credential::new));
        private final Optional<String> email = optional("email", Model::text);
        private final Optional<Boolean> emailVerified = optional("email_verified", Model::truth);
        private final Optional<Boolean> isPrivateEmail = optional("is_private_email", Model::truth);
        private final Optional<String> firstName = optional("first_name", Model::text);
        private final Optional<String> lastName = optional("last_name", Model::text);
        private final Optional<Long> realUserStatus = optional("real_user_status", Model::integer);
        private final Optional<Disabled> disabled = optional("disabled", Disabled::new);
        private final Optional<Instant> sessionsEndedAt = optional("sessions_ended_at", Model::time);
        private final Optional<Instant> lastSignInAt = optional("last_sign_in_at", Model::time);

        Account(Object json) {
            super(json);
        }

        /** Opaque and stable. */
        public String id() {
            return id;
        }

        /** An Apple developer team. */
        public String teamId() {
            return teamId;
        }

        /** <code>sub</code>: Apple's user ID for one team. It is compared as bytes. */
        public String sub() {
            return sub;
        }

        /** Apple's forwarding of e-mail from the relay address. */
        public String emailForwarding() {
            return emailForwarding;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant createdAt() {
            return createdAt;
        }

        /** One credential for each app that the caller may see. */
        public List<Credential> credentials() {
            return credentials;
        }

        /** The e-mail address or the private relay address. */
        public Optional<String> email() {
            return email;
        }

        /** Apple has verified the address. */
        public Optional<Boolean> emailVerified() {
            return emailVerified;
        }

        /** Absent when it is not known. */
        public Optional<Boolean> isPrivateEmail() {
            return isPrivateEmail;
        }

        /** The first name that the app posted at the first sign-in. */
        public Optional<String> firstName() {
            return firstName;
        }

        /** The last name that the app posted at the first sign-in. */
        public Optional<String> lastName() {
            return lastName;
        }

        /** 0 unsupported, 1 unknown, 2 likely real. Apple may add numbers. */
        public Optional<Long> realUserStatus() {
            return realUserStatus;
        }

        /** Present only while the account is disabled. */
        public Optional<Disabled> disabled() {
            return disabled;
        }

        /** Time at which the user was last signed out everywhere. Absent when never. */
        public Optional<Instant> sessionsEndedAt() {
            return sessionsEndedAt;
        }

        /** Time of the last sign-in to one of the apps that the caller may see. */
        public Optional<Instant> lastSignInAt() {
            return lastSignInAt;
        }
    }

    /** See AccountPage in siwa's OpenAPI document. */
    public static final class AccountPage extends Model {
        private final List<Account> accounts = required("accounts", list(Account::new));
        private final boolean hasMore = required("has_more", Model::truth);
        private final Optional<String> cursor = optional("cursor", Model::text);

        AccountPage(Object json) {
            super(json);
        }

        /** The newest first. Can be empty although more accounts match. */
        public List<Account> accounts() {
            return accounts;
        }

        /** True if there is a next page. */
        public boolean hasMore() {
            return hasMore;
        }

        /** The <code>after</code> of the next page. Absent on the last page. */
        public Optional<String> cursor() {
            return cursor;
        }
    }

    /** Result of judging the app. Absent where App Check is off. */
    public static final class AppCheckResult extends Model {
        private final String kind = required("kind", Model::text);
        private final Optional<String> cause = optional("cause", Model::text);
        private final Optional<Long> validationCategory = optional("validation_category", Model::integer);
        private final Optional<String> bundleVersion = optional("bundle_version", Model::text);

        AppCheckResult(Object json) {
            super(json);
        }

        /** The kind of the request. */
        public String kind() {
            return kind;
        }

        /** Reason why the proof does not hold, with <code>invalid</code>. */
        public Optional<String> cause() {
            return cause;
        }

        /** <code>apple_validation_category_01</code> of iOS 27 and later. */
        public Optional<Long> validationCategory() {
            return validationCategory;
        }

        /** <code>apple_bundle_version_01</code> of iOS 27 and later. */
        public Optional<String> bundleVersion() {
            return bundleVersion;
        }
    }

    /** The texts of the consent page as plain text, in the order in which they are shown. */
    public static final class AppFlipPrompt extends Model {
        private final String language = required("language", Model::text);
        private final String direction = required("direction", Model::text);
        private final String title = required("title", Model::text);
        private final List<String> purpose = required("purpose", list(Model::text));
        private final String scopesTitle = required("scopes_title", Model::text);
        private final List<AppFlipPromptScope> scopes = required("scopes", list(AppFlipPromptScope::new));
        private final List<AppFlipPromptNote> notes = required("notes", list(AppFlipPromptNote::new));
        private final String agree = required("agree", Model::text);
        private final String cancel = required("cancel", Model::text);
        private final Optional<AppFlipPromptAccount> account = optional("account", AppFlipPromptAccount::new);
        private final Optional<String> optionalScopesNote = optional("optional_scopes_note", Model::text);

        AppFlipPrompt(Object json) {
            super(json);
        }

        /** The language of all texts (BCP 47). */
        public String language() {
            return language;
        }

        /** <code>ltr</code> or <code>rtl</code>. */
        public String direction() {
            return direction;
        }

        /** The heading of the sheet. */
        public String title() {
            return title;
        }

        /** Paragraphs below the heading. */
        public List<String> purpose() {
            return purpose;
        }

        /** The heading of the list of scopes. */
        public String scopesTitle() {
            return scopesTitle;
        }

        /** The scopes of the link, in its order. */
        public List<AppFlipPromptScope> scopes() {
            return scopes;
        }

        /** Sentences below the scopes: the authorization, Google's privacy policy, where to unlink. */
        public List<AppFlipPromptNote> notes() {
            return notes;
        }

        /** The label of the button for the decision <code>granted</code>. */
        public String agree() {
            return agree;
        }

        /** The label of the button for the decision <code>denied</code>. */
        public String cancel() {
            return cancel;
        }

        /** The account that is signed in. Absent without <code>account_id</code>. */
        public Optional<AppFlipPromptAccount> account() {
            return account;
        }

        /** Present if the user can leave out some of the scopes: says how. */
        public Optional<String> optionalScopesNote() {
            return optionalScopesNote;
        }
    }

    /** The account that is signed in. Absent without <code>account_id</code>. */
    public static final class AppFlipPromptAccount extends Model {
        private final String label = required("label", Model::text);
        private final String title = required("title", Model::text);
        private final Optional<String> subtitle = optional("subtitle", Model::text);

        AppFlipPromptAccount(Object json) {
            super(json);
        }

        /** "Signed in as", in the language of the sheet. */
        public String label() {
            return label;
        }

        /** The name, or the address of a user without a name. */
        public String title() {
            return title;
        }

        /** The address of a user who has a name. */
        public Optional<String> subtitle() {
            return subtitle;
        }
    }

    /** A link to a page of Google. */
    public static final class AppFlipPromptLink extends Model {
        private final String text = required("text", Model::text);
        private final String url = required("url", Model::text);

        AppFlipPromptLink(Object json) {
            super(json);
        }

        /** The part of the sentence that is the link. */
        public String text() {
            return text;
        }

        /** The target. */
        public String url() {
            return url;
        }
    }

    /** A sentence, with at most one link in it. */
    public static final class AppFlipPromptNote extends Model {
        private final String text = required("text", Model::text);
        private final Optional<AppFlipPromptLink> link = optional("link", AppFlipPromptLink::new);

        AppFlipPromptNote(Object json) {
            super(json);
        }

        /** The sentence. It contains the text of the link. */
        public String text() {
            return text;
        }

        /** A link to a page of Google. */
        public Optional<AppFlipPromptLink> link() {
            return link;
        }
    }

    /**
     * The contents of the sheet (<code>prompt</code>), or the URL that leads back to Google
     * (<code>redirect_to</code>), never both.
     */
    public static final class AppFlipPromptResponse extends Model {
        private final String outcome = required("outcome", Model::text);
        private final Optional<AppFlipPrompt> prompt = optional("prompt", AppFlipPrompt::new);
        private final Optional<String> redirectTo = optional("redirect_to", Model::text);
        private final Optional<String> message = optional("message", Model::text);
        private final Optional<String> detail = optional("detail", Model::text);
        private final Optional<Boolean> signInAgain = optional("sign_in_again", Model::truth);

        AppFlipPromptResponse(Object json) {
            super(json);
        }

        /** <code>prompt</code> when the app asks the user; otherwise the cause for which it does not. */
        public String outcome() {
            return outcome;
        }

        /** The texts of the consent page as plain text, in the order in which they are shown. */
        public Optional<AppFlipPrompt> prompt() {
            return prompt;
        }

        /** Open this URL unchanged. */
        public Optional<String> redirectTo() {
            return redirectTo;
        }

        /** A sentence for the user, with <code>redirect_to</code>. */
        public Optional<String> message() {
            return message;
        }

        /** With <code>invalid_request</code>: the fault of the link, for the developer. */
        public Optional<String> detail() {
            return detail;
        }

        /** With <code>redirect_to</code>: true if the user can be linked after a new sign-in with Apple in the app. */
        public Optional<Boolean> signInAgain() {
            return signInAgain;
        }
    }

    /** A scope that the link requests. */
    public static final class AppFlipPromptScope extends Model {
        private final String scope = required("scope", Model::text);
        private final String text = required("text", Model::text);
        private final boolean optional = required("optional", Model::truth);
        private final Optional<String> detail = optional("detail", Model::text);

        AppFlipPromptScope(Object json) {
            super(json);
        }

        /** The name, for <code>granted_scopes</code>. */
        public String scope() {
            return scope;
        }

        /** What the scope allows. */
        public String text() {
            return text;
        }

        /** The user can leave the scope out. */
        public boolean optional() {
            return optional;
        }

        /** For <code>email</code>: the address that is shared. */
        public Optional<String> detail() {
            return detail;
        }
    }

    /** The URL that leads back to Google, and what the app can tell the user. */
    public static final class AppFlipResponse extends Model {
        private final String redirectTo = required("redirect_to", Model::text);
        private final String outcome = required("outcome", Model::text);
        private final String message = required("message", Model::text);
        private final Optional<String> detail = optional("detail", Model::text);
        private final Optional<String> code = optional("code", Model::text);

        AppFlipResponse(Object json) {
            super(json);
        }

        /** Open this URL unchanged. */
        public String redirectTo() {
            return redirectTo;
        }

        /** <code>code</code> when Google gets an authorization code; otherwise the cause. */
        public String outcome() {
            return outcome;
        }

        /**
         * A sentence for the user. In English it is also the <code>error_description</code> of
         * <code>redirect_to</code>.
         */
        public String message() {
            return message;
        }

        /** With <code>invalid_request</code>: the fault of the request, for the developer. */
        public Optional<String> detail() {
            return detail;
        }

        /** The authorization code, for an Android app: only with a redirect URI of the project. */
        public Optional<String> code() {
            return code;
        }
    }

    /** A key of App Attest. */
    public static final class AttestedKey extends Model {
        private final String keyId = required("key_id", Model::text);
        private final String clientId = required("client_id", Model::text);
        private final String teamId = required("team_id", Model::text);
        private final String environment = required("environment", Model::text);
        private final Instant createdAt = required("created_at", Model::time);
        private final Optional<Long> validationCategory = optional("validation_category", Model::integer);
        private final Optional<String> bundleVersion = optional("bundle_version", Model::text);

        AttestedKey(Object json) {
            super(json);
        }

        /** The ID of the key in base64. */
        public String keyId() {
            return keyId;
        }

        /** The bundle ID of the app that owns the key. */
        public String clientId() {
            return clientId;
        }

        /** The team of the app. */
        public String teamId() {
            return teamId;
        }

        /** The environment of the attestation. */
        public String environment() {
            return environment;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant createdAt() {
            return createdAt;
        }

        /** <code>apple_validation_category_01</code> of iOS 27 and later, in this attestation. */
        public Optional<Long> validationCategory() {
            return validationCategory;
        }

        /** <code>apple_bundle_version_01</code> of iOS 27 and later, in this attestation. */
        public Optional<String> bundleVersion() {
            return bundleVersion;
        }
    }

    /** See Challenge in siwa's OpenAPI document. */
    public static final class Challenge extends Model {
        private final String challenge = required("challenge", Model::text);
        private final Instant expiresAt = required("expires_at", Model::time);

        Challenge(Object json) {
            super(json);
        }

        /** The challenge. The app hashes the UTF-8 bytes of this text, and decodes nothing. */
        public String challenge() {
            return challenge;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant expiresAt() {
            return expiresAt;
        }
    }

    /** See Credential in siwa's OpenAPI document. */
    public static final class Credential extends Model {
        private final String clientId = required("client_id", Model::text);
        private final String state = required("state", Model::text);
        private final Optional<String> reason = optional("reason", Model::text);
        private final Optional<String> source = optional("source", Model::text);
        private final Optional<Instant> since = optional("since", Model::time);
        private final Optional<String> refreshToken = optional("refresh_token", Model::text);
        private final Optional<String> refreshTokenCause = optional("refresh_token_cause", Model::text);
        private final Optional<Boolean> accountDisabled = optional("account_disabled", Model::truth);

        Credential(Object json) {
            super(json);
        }

        /** The app's primary client ID. */
        public String clientId() {
            return clientId;
        }

        /**
         * The values of <code>getCredentialState</code>. The user may stay signed in only with
         * <code>authorized</code>.
         */
        public String state() {
            return state;
        }

        /** See siwa's OpenAPI document. */
        public Optional<String> reason() {
            return reason;
        }

        /** See siwa's OpenAPI document. */
        public Optional<String> source() {
            return source;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Optional<Instant> since() {
            return since;
        }

        /** Absent when no authorization code was ever posted. */
        public Optional<String> refreshToken() {
            return refreshToken;
        }

        /** The reason why there is no refresh token. Only with <code>unavailable</code>. */
        public Optional<String> refreshTokenCause() {
            return refreshTokenCause;
        }

        /** The account is disabled here, whatever the state at Apple. Absent otherwise. */
        public Optional<Boolean> accountDisabled() {
            return accountDisabled;
        }
    }

    /** See CredentialList in siwa's OpenAPI document. */
    public static final class CredentialList extends Model {
        private final List<CredentialOfSubject> credentials = required("credentials", list(CredentialOfSubject::new));

        CredentialList(Object json) {
            super(json);
        }

        /** In the order of the query. */
        public List<CredentialOfSubject> credentials() {
            return credentials;
        }
    }

    /** See CredentialOfSubject in siwa's OpenAPI document. */
    public static final class CredentialOfSubject extends Model {
        private final String clientId = required("client_id", Model::text);
        private final String state = required("state", Model::text);
        private final String sub = required("sub", Model::text);
        private final Optional<String> reason = optional("reason", Model::text);
        private final Optional<String> source = optional("source", Model::text);
        private final Optional<Instant> since = optional("since", Model::time);
        private final Optional<String> refreshToken = optional("refresh_token", Model::text);
        private final Optional<String> refreshTokenCause = optional("refresh_token_cause", Model::text);
        private final Optional<Boolean> accountDisabled = optional("account_disabled", Model::truth);

        CredentialOfSubject(Object json) {
            super(json);
        }

        /** The app's primary client ID. */
        public String clientId() {
            return clientId;
        }

        /**
         * The values of <code>getCredentialState</code>. The user may stay signed in only with
         * <code>authorized</code>.
         */
        public String state() {
            return state;
        }

        /** The <code>sub</code> of the request. */
        public String sub() {
            return sub;
        }

        /** See siwa's OpenAPI document. */
        public Optional<String> reason() {
            return reason;
        }

        /** See siwa's OpenAPI document. */
        public Optional<String> source() {
            return source;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Optional<Instant> since() {
            return since;
        }

        /** Absent when no authorization code was ever posted. */
        public Optional<String> refreshToken() {
            return refreshToken;
        }

        /** The reason why there is no refresh token. Only with <code>unavailable</code>. */
        public Optional<String> refreshTokenCause() {
            return refreshTokenCause;
        }

        /** The account is disabled here, whatever the state at Apple. Absent otherwise. */
        public Optional<Boolean> accountDisabled() {
            return accountDisabled;
        }
    }

    /** Present only while the account is disabled. */
    public static final class Disabled extends Model {
        private final String reason = required("reason", Model::text);
        private final Instant since = required("since", Model::time);
        private final Optional<Instant> until = optional("until", Model::time);

        Disabled(Object json) {
            super(json);
        }

        /**
         * <code>abuse</code>: the user broke the rules of the app; <code>security</code>: another person may use the
         * account; <code>requested</code>: the user asked for it.
         */
        public String reason() {
            return reason;
        }

        /** By this service's clock. */
        public Instant since() {
            return since;
        }

        /** Time from which the account is enabled again. Absent without an end. */
        public Optional<Instant> until() {
            return until;
        }
    }

    /** See ErasedToken in siwa's OpenAPI document. */
    public static final class ErasedToken extends Model {
        private final String clientId = required("client_id", Model::text);
        private final String outcome = required("outcome", Model::text);
        private final long attempts = required("attempts", Model::integer);
        private final Optional<String> cause = optional("cause", Model::text);

        ErasedToken(Object json) {
            super(json);
        }

        /** The client ID to which the token was issued. */
        public String clientId() {
            return clientId;
        }

        /** See siwa's OpenAPI document. */
        public String outcome() {
            return outcome;
        }

        /** Number of requests to Apple. */
        public long attempts() {
            return attempts;
        }

        /**
         * The reason why the revocation of a token is not proven, or why there was no token: a cause of
         * <code>refresh_token_cause</code>, one of Apple's error codes, a failure of the request to Apple, or one of
         * these values.
         */
        public Optional<String> cause() {
            return cause;
        }
    }

    /** See Erasure in siwa's OpenAPI document. */
    public static final class Erasure extends Model {
        private final String id = required("id", Model::text);
        private final String accountId = required("account_id", Model::text);
        private final String state = required("state", Model::text);
        private final Instant requestedAt = required("requested_at", Model::time);
        private final String personalData = required("personal_data", Model::text);
        private final List<ErasedToken> tokens = required("tokens", list(ErasedToken::new));
        private final boolean userMustRevoke = required("user_must_revoke", Model::truth);
        private final Optional<Instant> finishedAt = optional("finished_at", Model::time);
        private final Optional<List<ManualRevocation>> userMustRevokeAt = optional("user_must_revoke_at", list(ManualRevocation::new));
        private final Optional<String> instructions = optional("instructions", Model::text);

        Erasure(Object json) {
            super(json);
        }

        /** See siwa's OpenAPI document. */
        public String id() {
            return id;
        }

        /** Opaque and stable. */
        public String accountId() {
            return accountId;
        }

        /** See siwa's OpenAPI document. */
        public String state() {
            return state;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant requestedAt() {
            return requestedAt;
        }

        /** Always <code>erased</code>: the data is deleted before the first response. */
        public String personalData() {
            return personalData;
        }

        /** The Apple tokens that are revoked. */
        public List<ErasedToken> tokens() {
            return tokens;
        }

        /** True if Apple did not accept a revocation: the user must revoke the authorization in Apple's settings. */
        public boolean userMustRevoke() {
            return userMustRevoke;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Optional<Instant> finishedAt() {
            return finishedAt;
        }

        /** The apps that the user must remove. */
        public Optional<List<ManualRevocation>> userMustRevokeAt() {
            return userMustRevokeAt;
        }

        /** Instructions for a user who must revoke the authorization at Apple. */
        public Optional<String> instructions() {
            return instructions;
        }
    }

    /** See ErasureResponse in siwa's OpenAPI document. */
    public static final class ErasureResponse extends Model {
        private final Erasure erasure = required("erasure", Erasure::new);

        ErasureResponse(Object json) {
            super(json);
        }

        /** See siwa's OpenAPI document. */
        public Erasure erasure() {
            return erasure;
        }
    }

    /** See Event in siwa's OpenAPI document. */
    public static final class Event extends Model {
        private final String id = required("id", Model::text);
        private final String type = required("type", Model::text);
        private final String teamId = required("team_id", Model::text);
        private final Instant occurredAt = required("occurred_at", Model::time);
        private final Instant recordedAt = required("recorded_at", Model::time);
        private final Optional<String> sub = optional("sub", Model::text);
        private final Optional<String> accountId = optional("account_id", Model::text);
        private final Optional<String> clientId = optional("client_id", Model::text);
        private final Optional<String> reason = optional("reason", Model::text);
        private final Optional<String> source = optional("source", Model::text);
        private final Optional<GrantOfEvent> grant = optional("grant", GrantOfEvent::new);

        Event(Object json) {
            super(json);
        }

        /** Stays the same when the event is read again. */
        public String id() {
            return id;
        }

        /** See siwa's OpenAPI document. */
        public String type() {
            return type;
        }

        /** An Apple developer team. */
        public String teamId() {
            return teamId;
        }

        /** By Apple's clock. */
        public Instant occurredAt() {
            return occurredAt;
        }

        /** By this service's clock. */
        public Instant recordedAt() {
            return recordedAt;
        }

        /** Absent for an erased account. */
        public Optional<String> sub() {
            return sub;
        }

        /** Opaque and stable. */
        public Optional<String> accountId() {
            return accountId;
        }

        /** A bundle ID or a Services ID. */
        public Optional<String> clientId() {
            return clientId;
        }

        /** With <code>grant_revoked</code> and <code>token_revoked</code>, the reason of the grant. */
        public Optional<String> reason() {
            return reason;
        }

        /** See siwa's OpenAPI document. */
        public Optional<String> source() {
            return source;
        }

        /**
         * The OAuth grant that was created or has ended. Only with <code>grant_created</code>,
         * <code>grant_revoked</code> and <code>token_revoked</code>.
         */
        public Optional<GrantOfEvent> grant() {
            return grant;
        }
    }

    /** See EventPage in siwa's OpenAPI document. */
    public static final class EventPage extends Model {
        private final List<Event> events = required("events", list(Event::new));
        private final String cursor = required("cursor", Model::text);
        private final boolean hasMore = required("has_more", Model::truth);

        EventPage(Object json) {
            super(json);
        }

        /** In commit order. */
        public List<Event> events() {
            return events;
        }

        /** The <code>after</code> of the next page. */
        public String cursor() {
            return cursor;
        }

        /** True if another page can be read at once. */
        public boolean hasMore() {
            return hasMore;
        }
    }

    /** The security event of Google that ended the grant. */
    public static final class GoogleEvent extends Model {
        private final String type = required("type", Model::text);
        private final Optional<String> reason = optional("reason", Model::text);

        GoogleEvent(Object json) {
            super(json);
        }

        /** The last part of the event's URI. */
        public String type() {
            return type;
        }

        /** Google's reason. Absent when Google gave no reason, or an unknown one. */
        public Optional<String> reason() {
            return reason;
        }
    }

    /** See Grant in siwa's OpenAPI document. */
    public static final class Grant extends Model {
        private final String id = required("id", Model::text);
        private final String accountId = required("account_id", Model::text);
        private final String clientId = required("client_id", Model::text);
        private final String app = required("app", Model::text);
        private final String scope = required("scope", Model::text);
        private final boolean googleAccountKnown = required("google_account_known", Model::truth);
        private final Instant createdAt = required("created_at", Model::time);
        private final Instant consentedAt = required("consented_at", Model::time);
        private final Optional<String> clientName = optional("client_name", Model::text);
        private final Optional<String> lastUsedOn = optional("last_used_on", Model::text);

        Grant(Object json) {
            super(json);
        }

        /** See siwa's OpenAPI document. */
        public String id() {
            return id;
        }

        /** Opaque and stable. */
        public String accountId() {
            return accountId;
        }

        /** The OAuth client, by the ID in its configuration. */
        public String clientId() {
            return clientId;
        }

        /** The primary client ID of the app. */
        public String app() {
            return app;
        }

        /** All scopes that the user has agreed to, separated by spaces. */
        public String scope() {
            return scope;
        }

        /**
         * True if the <code>sub</code> of the Google account is known, as after streamlined linking. Google's events
         * about the account end only grants with true.
         */
        public boolean googleAccountKnown() {
            return googleAccountKnown;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant createdAt() {
            return createdAt;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant consentedAt() {
            return consentedAt;
        }

        /** Absent for a client that is no longer configured. */
        public Optional<String> clientName() {
            return clientName;
        }

        /** The last day (UTC) on which the client got tokens; absent before the first tokens. */
        public Optional<String> lastUsedOn() {
            return lastUsedOn;
        }
    }

    /**
     * The OAuth grant that was created or has ended. Only with <code>grant_created</code>,
     * <code>grant_revoked</code> and <code>token_revoked</code>.
     */
    public static final class GrantOfEvent extends Model {
        private final String id = required("id", Model::text);
        private final String clientId = required("client_id", Model::text);
        private final Optional<String> reason = optional("reason", Model::text);
        private final Optional<GoogleEvent> googleEvent = optional("google_event", GoogleEvent::new);

        GrantOfEvent(Object json) {
            super(json);
        }

        /** See siwa's OpenAPI document. */
        public String id() {
            return id;
        }

        /** The OAuth client. */
        public String clientId() {
            return clientId;
        }

        /** Only with <code>grant_revoked</code> and <code>token_revoked</code>. */
        public Optional<String> reason() {
            return reason;
        }

        /** Only with the reason <code>google_revoked</code>. */
        public Optional<GoogleEvent> googleEvent() {
            return googleEvent;
        }
    }

    /** See Grants in siwa's OpenAPI document. */
    public static final class Grants extends Model {
        private final List<Grant> grants = required("grants", list(Grant::new));

        Grants(Object json) {
            super(json);
        }

        /** All grants of the account. */
        public List<Grant> grants() {
            return grants;
        }
    }

    /** The claims of the token with Apple's names, and with JSON booleans. */
    public static final class Identity extends Model {
        private final String iss = required("iss", Model::text);
        private final String sub = required("sub", Model::text);
        private final String aud = required("aud", Model::text);
        private final String teamId = required("team_id", Model::text);
        private final String clientId = required("client_id", Model::text);
        private final Instant iat = required("iat", Model::time);
        private final Instant exp = required("exp", Model::time);
        private final Optional<Instant> authTime = optional("auth_time", Model::time);
        private final Optional<String> nonce = optional("nonce", Model::text);
        private final Optional<Boolean> nonceSupported = optional("nonce_supported", Model::truth);
        private final Optional<String> cHash = optional("c_hash", Model::text);
        private final Optional<String> atHash = optional("at_hash", Model::text);
        private final Optional<String> email = optional("email", Model::text);
        private final Optional<Boolean> emailVerified = optional("email_verified", Model::truth);
        private final Optional<Boolean> isPrivateEmail = optional("is_private_email", Model::truth);
        private final Optional<Long> realUserStatus = optional("real_user_status", Model::integer);
        private final Optional<String> transferSub = optional("transfer_sub", Model::text);
        private final Optional<String> orgId = optional("org_id", Model::text);

        Identity(Object json) {
            super(json);
        }

        /** The issuer. Always Apple. */
        public String iss() {
            return iss;
        }

        /** <code>sub</code>: Apple's user ID for one team. It is compared as bytes. */
        public String sub() {
            return sub;
        }

        /** A bundle ID or a Services ID. */
        public String aud() {
            return aud;
        }

        /** An Apple developer team. */
        public String teamId() {
            return teamId;
        }

        /** The app's primary client ID. */
        public String clientId() {
            return clientId;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant iat() {
            return iat;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant exp() {
            return exp;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Optional<Instant> authTime() {
            return authTime;
        }

        /** The nonce of the request, as the token has it. */
        public Optional<String> nonce() {
            return nonce;
        }

        /** True if the platform supports nonces. */
        public Optional<Boolean> nonceSupported() {
            return nonceSupported;
        }

        /** The hash of the authorization code (OpenID Connect Core &#167;3.3.2.11). */
        public Optional<String> cHash() {
            return cHash;
        }

        /** The hash of the access token (OpenID Connect Core &#167;3.1.3.6). */
        public Optional<String> atHash() {
            return atHash;
        }

        /** The e-mail address or the private relay address. */
        public Optional<String> email() {
            return email;
        }

        /** Apple has verified the address. */
        public Optional<Boolean> emailVerified() {
            return emailVerified;
        }

        /** Apple's claim. Without the claim, true if the address has one of Apple's relay domains. */
        public Optional<Boolean> isPrivateEmail() {
            return isPrivateEmail;
        }

        /** 0 unsupported, 1 unknown, 2 likely real. Apple may add numbers. */
        public Optional<Long> realUserStatus() {
            return realUserStatus;
        }

        /** The user's transfer identifier, for 60 days after a transfer of the app. */
        public Optional<String> transferSub() {
            return transferSub;
        }

        /** The organization of a managed Apple Account. */
        public Optional<String> orgId() {
            return orgId;
        }
    }

    /** An introspection response (RFC 7662 &#167;2.2). An inactive token has <code>active</code> alone. */
    public static final class IntrospectionResponse extends Model {
        private final boolean active = required("active", Model::truth);
        private final Optional<String> scope = optional("scope", Model::text);
        private final Optional<String> clientId = optional("client_id", Model::text);
        private final Optional<String> sub = optional("sub", Model::text);
        private final Optional<String> iss = optional("iss", Model::text);
        private final Optional<Long> authTime = optional("auth_time", Model::integer);
        private final Optional<String> tokenType = optional("token_type", Model::text);
        private final Optional<String> aud = optional("aud", Model::text);
        private final Optional<Long> iat = optional("iat", Model::integer);
        private final Optional<Long> exp = optional("exp", Model::integer);
        private final Optional<String> jti = optional("jti", Model::text);

        IntrospectionResponse(Object json) {
            super(json);
        }

        /** True if the token is good now: issued here, not expired, not revoked, and the account may use it. */
        public boolean active() {
            return active;
        }

        /** The granted scope. Space-separated. */
        public Optional<String> scope() {
            return scope;
        }

        /** The OAuth client. */
        public Optional<String> clientId() {
            return clientId;
        }

        /** The account ID. */
        public Optional<String> sub() {
            return sub;
        }

        /** The issuer of the token. */
        public Optional<String> iss() {
            return iss;
        }

        /** When the end user signed in with Apple, in seconds since 1970. */
        public Optional<Long> authTime() {
            return authTime;
        }

        /** <code>Bearer</code>, of an access token. */
        public Optional<String> tokenType() {
            return tokenType;
        }

        /** The audience of the client. */
        public Optional<String> aud() {
            return aud;
        }

        /** When the token was issued, in seconds since 1970. */
        public Optional<Long> iat() {
            return iat;
        }

        /** When the token expires, in seconds since 1970. */
        public Optional<Long> exp() {
            return exp;
        }

        /** The ID of the token. */
        public Optional<String> jti() {
            return jti;
        }
    }

    /** See KeyRegistration in siwa's OpenAPI document. */
    public static final class KeyRegistration extends Model {
        private final AttestedKey key = required("key", AttestedKey::new);
        private final boolean isNewKey = required("is_new_key", Model::truth);

        KeyRegistration(Object json) {
            super(json);
        }

        /** A key of App Attest. */
        public AttestedKey key() {
            return key;
        }

        /** False if the key was registered before. */
        public boolean isNewKey() {
            return isNewKey;
        }
    }

    /** See ManualRevocation in siwa's OpenAPI document. */
    public static final class ManualRevocation extends Model {
        private final String clientId = required("client_id", Model::text);
        private final String cause = required("cause", Model::text);

        ManualRevocation(Object json) {
            super(json);
        }

        /** A bundle ID or a Services ID. */
        public String clientId() {
            return clientId;
        }

        /**
         * The reason why the revocation of a token is not proven, or why there was no token: a cause of
         * <code>refresh_token_cause</code>, one of Apple's error codes, a failure of the request to Apple, or one of
         * these values.
         */
        public String cause() {
            return cause;
        }
    }

    /** See Nonce in siwa's OpenAPI document. */
    public static final class Nonce extends Model {
        private final String nonce = required("nonce", Model::text);
        private final String nonceSha256 = required("nonce_sha256", Model::text);
        private final Instant expiresAt = required("expires_at", Model::time);

        Nonce(Object json) {
            super(json);
        }

        /** The raw nonce, which the backend posts with the token. */
        public String nonce() {
            return nonce;
        }

        /** The value for Apple in a native app. */
        public String nonceSha256() {
            return nonceSha256;
        }

        /** RFC 3339 in UTC, always with milliseconds. */
        public Instant expiresAt() {
            return expiresAt;
        }
    }

    /** See SignInOutcome in siwa's OpenAPI document. */
    public static final class SignInOutcome extends Model {
        private final Account account = required("account", Account::new);
        private final Credential credential = required("credential", Credential::new);
        private final boolean isNewAccount = required("is_new_account", Model::truth);
        private final Optional<AppCheckResult> appCheck = optional("app_check", AppCheckResult::new);
        private final Optional<List<String>> dropped = optional("dropped", list(Model::text));

        SignInOutcome(Object json) {
            super(json);
        }

        /** See siwa's OpenAPI document. */
        public Account account() {
            return account;
        }

        /** See siwa's OpenAPI document. */
        public Credential credential() {
            return credential;
        }

        /** True if this sign-in created the account. */
        public boolean isNewAccount() {
            return isNewAccount;
        }

        /** Result of judging the app. Absent where App Check is off. */
        public Optional<AppCheckResult> appCheck() {
            return appCheck;
        }

        /** Values that decide nothing and were dropped for their form. Absent without any. */
        public Optional<List<String>> dropped() {
            return dropped;
        }
    }

    /** See VerifiedIdentity in siwa's OpenAPI document. */
    public static final class VerifiedIdentity extends Model {
        private final Identity identity = required("identity", Identity::new);
        private final Optional<AppCheckResult> appCheck = optional("app_check", AppCheckResult::new);
        private final Optional<List<String>> dropped = optional("dropped", list(Model::text));

        VerifiedIdentity(Object json) {
            super(json);
        }

        /** The claims of the token with Apple's names, and with JSON booleans. */
        public Identity identity() {
            return identity;
        }

        /** Result of judging the app. Absent where App Check is off. */
        public Optional<AppCheckResult> appCheck() {
            return appCheck;
        }

        /** Values that decide nothing and were dropped for their form. Absent without any. */
        public Optional<List<String>> dropped() {
            return dropped;
        }
    }
}
