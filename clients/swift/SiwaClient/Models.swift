// The models of siwa's responses. scripts/client-models makes this file from docs/openapi.yaml.
//
// A member that siwa leaves out is nil. Times are in UTC, with milliseconds. Types with known values can get
// further values without a new version.

public import Foundation

/// Known values.
public struct CredentialReason: RawRepresentable, Hashable, Codable, Sendable {
    public static let signedIn = Self(rawValue: "signed_in")
    public static let consentRevoked = Self(rawValue: "consent_revoked")
    public static let appleAccountDeleted = Self(rawValue: "apple_account_deleted")
    public static let refreshTokenRejected = Self(rawValue: "refresh_token_rejected")
    public static let erased = Self(rawValue: "erased")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values.
public struct CredentialSource: RawRepresentable, Hashable, Codable, Sendable {
    public static let signIn = Self(rawValue: "sign_in")
    public static let notification = Self(rawValue: "notification")
    public static let dailyCheck = Self(rawValue: "daily_check")
    public static let erasure = Self(rawValue: "erasure")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values. The values of `getCredentialState`. The user may stay signed in only with `authorized`.
public struct CredentialState: RawRepresentable, Hashable, Codable, Sendable {
    public static let authorized = Self(rawValue: "authorized")
    public static let revoked = Self(rawValue: "revoked")
    public static let notFound = Self(rawValue: "notFound")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values. `abuse`: the user broke the rules of the app; `security`: another person may use the
/// account; `requested`: the user asked for it.
public struct DisablingReason: RawRepresentable, Hashable, Codable, Sendable {
    public static let abuse = Self(rawValue: "abuse")
    public static let fraud = Self(rawValue: "fraud")
    public static let security = Self(rawValue: "security")
    public static let payment = Self(rawValue: "payment")
    public static let legal = Self(rawValue: "legal")
    public static let requested = Self(rawValue: "requested")
    public static let other = Self(rawValue: "other")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values. Apple's forwarding of e-mail from the relay address.
public struct EmailForwarding: RawRepresentable, Hashable, Codable, Sendable {
    public static let enabled = Self(rawValue: "enabled")
    public static let disabled = Self(rawValue: "disabled")
    public static let unknown = Self(rawValue: "unknown")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values.
public struct ErasureOutcome: RawRepresentable, Hashable, Codable, Sendable {
    public static let pending = Self(rawValue: "pending")
    public static let revokedAndProven = Self(rawValue: "revoked_and_proven")
    public static let notRevoked = Self(rawValue: "not_revoked")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values.
public struct ErasureState: RawRepresentable, Hashable, Codable, Sendable {
    public static let inProgress = Self(rawValue: "in_progress")
    public static let completed = Self(rawValue: "completed")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values.
public struct EventType: RawRepresentable, Hashable, Codable, Sendable {
    public static let accountCreated = Self(rawValue: "account_created")
    public static let credentialAuthorized = Self(rawValue: "credential_authorized")
    public static let credentialRevoked = Self(rawValue: "credential_revoked")
    public static let emailChanged = Self(rawValue: "email_changed")
    public static let emailForwardingChanged = Self(rawValue: "email_forwarding_changed")
    public static let profileChanged = Self(rawValue: "profile_changed")
    public static let accountDeleted = Self(rawValue: "account_deleted")
    public static let accountErased = Self(rawValue: "account_erased")
    public static let accountTransferred = Self(rawValue: "account_transferred")
    public static let grantCreated = Self(rawValue: "grant_created")
    public static let grantRevoked = Self(rawValue: "grant_revoked")
    public static let accountDisabled = Self(rawValue: "account_disabled")
    public static let accountEnabled = Self(rawValue: "account_enabled")
    public static let sessionsEnded = Self(rawValue: "sessions_ended")
    public static let tokenRevoked = Self(rawValue: "token_revoked")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values.
public struct GrantEndReason: RawRepresentable, Hashable, Codable, Sendable {
    public static let unlinked = Self(rawValue: "unlinked")
    public static let clientRevoked = Self(rawValue: "client_revoked")
    public static let tokenReused = Self(rawValue: "token_reused")
    public static let replaced = Self(rawValue: "replaced")
    public static let googleRevoked = Self(rawValue: "google_revoked")
    public static let consentRevoked = Self(rawValue: "consent_revoked")
    public static let appleAccountDeleted = Self(rawValue: "apple_account_deleted")
    public static let erased = Self(rawValue: "erased")
    public static let signedOut = Self(rawValue: "signed_out")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values. The reason why there is no refresh token. Only with `unavailable`.
public struct RefreshTokenCause: RawRepresentable, Hashable, Codable, Sendable {
    public static let noSealingKey = Self(rawValue: "no_sealing_key")
    public static let noSigningKey = Self(rawValue: "no_signing_key")
    public static let codeRejected = Self(rawValue: "code_rejected")
    public static let codeExpired = Self(rawValue: "code_expired")
    public static let exchangeUncertain = Self(rawValue: "exchange_uncertain")
    public static let clientRejected = Self(rawValue: "client_rejected")
    public static let identityMismatch = Self(rawValue: "identity_mismatch")
    public static let rejected = Self(rawValue: "rejected")
    public static let credentialRevoked = Self(rawValue: "credential_revoked")
    public static let transferred = Self(rawValue: "transferred")
    public static let sealedUnreadable = Self(rawValue: "sealed_unreadable")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values. Absent when no authorization code was ever posted.
public struct RefreshTokenState: RawRepresentable, Hashable, Codable, Sendable {
    public static let held = Self(rawValue: "held")
    public static let pending = Self(rawValue: "pending")
    public static let unavailable = Self(rawValue: "unavailable")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Known values. The reason why the revocation of a token is not proven, or why there was no token: a cause
/// of `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these
/// values.
public struct RevocationCause: RawRepresentable, Hashable, Codable, Sendable {
    public static let stillValid = Self(rawValue: "still_valid")
    public static let noToken = Self(rawValue: "no_token")
    public static let unreachable = Self(rawValue: "unreachable")
    public static let circuitOpen = Self(rawValue: "circuit_open")
    public static let timedOut = Self(rawValue: "timed_out")
    public static let connectionLost = Self(rawValue: "connection_lost")
    public static let answerUnusable = Self(rawValue: "answer_unusable")
    public static let serverFailed = Self(rawValue: "server_failed")
    public static let throttled = Self(rawValue: "throttled")
    public static let signingFailed = Self(rawValue: "signing_failed")
    public static let invalidClient = Self(rawValue: "invalid_client")
    public static let invalidGrant = Self(rawValue: "invalid_grant")
    public static let invalidRequest = Self(rawValue: "invalid_request")
    public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
    public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
    public static let invalidScope = Self(rawValue: "invalid_scope")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// See Account in siwa's OpenAPI document.
public struct Account: Hashable, Codable, Sendable {
    /// Opaque and stable.
    public var id: String
    /// An Apple developer team.
    public var teamID: String
    /// `sub`: Apple's user ID for one team. It is compared as bytes.
    public var sub: String
    /// Apple's forwarding of e-mail from the relay address.
    public var emailForwarding: EmailForwarding
    /// RFC 3339 in UTC, always with milliseconds.
    public var createdAt: Date
    /// One credential for each app that the caller may see.
    public var credentials: [Credential]
    /// The e-mail address or the private relay address.
    public var email: String?
    /// Apple has verified the address.
    public var emailVerified: Bool?
    /// Absent when it is not known.
    public var isPrivateEmail: Bool?
    /// The first name that the app posted at the first sign-in.
    public var firstName: String?
    /// The last name that the app posted at the first sign-in.
    public var lastName: String?
    /// 0 unsupported, 1 unknown, 2 likely real. Apple may add numbers.
    public var realUserStatus: Int?
    /// Present only while the account is disabled.
    public var disabled: Disabled?
    /// Time at which the user was last signed out everywhere. Absent when never.
    public var sessionsEndedAt: Date?
    /// Time of the last sign-in to one of the apps that the caller may see.
    public var lastSignInAt: Date?

    public init(
        id: String, teamID: String, sub: String, emailForwarding: EmailForwarding, createdAt: Date,
        credentials: [Credential], email: String? = nil, emailVerified: Bool? = nil,
        isPrivateEmail: Bool? = nil, firstName: String? = nil, lastName: String? = nil,
        realUserStatus: Int? = nil, disabled: Disabled? = nil, sessionsEndedAt: Date? = nil,
        lastSignInAt: Date? = nil
    ) {
        self.id = id
        self.teamID = teamID
        self.sub = sub
        self.emailForwarding = emailForwarding
        self.createdAt = createdAt
        self.credentials = credentials
        self.email = email
        self.emailVerified = emailVerified
        self.isPrivateEmail = isPrivateEmail
        self.firstName = firstName
        self.lastName = lastName
        self.realUserStatus = realUserStatus
        self.disabled = disabled
        self.sessionsEndedAt = sessionsEndedAt
        self.lastSignInAt = lastSignInAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case teamID = "team_id"
        case sub
        case emailForwarding = "email_forwarding"
        case createdAt = "created_at"
        case credentials
        case email
        case emailVerified = "email_verified"
        case isPrivateEmail = "is_private_email"
        case firstName = "first_name"
        case lastName = "last_name"
        case realUserStatus = "real_user_status"
        case disabled
        case sessionsEndedAt = "sessions_ended_at"
        case lastSignInAt = "last_sign_in_at"
    }
}

/// See AccountPage in siwa's OpenAPI document.
public struct AccountPage: Hashable, Codable, Sendable {
    /// The newest first. Can be empty although more accounts match.
    public var accounts: [Account]
    /// True if there is a next page.
    public var hasMore: Bool
    /// The `after` of the next page. Absent on the last page.
    public var cursor: String?

    public init(accounts: [Account], hasMore: Bool, cursor: String? = nil) {
        self.accounts = accounts
        self.hasMore = hasMore
        self.cursor = cursor
    }

    private enum CodingKeys: String, CodingKey {
        case accounts
        case hasMore = "has_more"
        case cursor
    }
}

/// Result of judging the app. Absent where App Check is off.
public struct AppCheckResult: Hashable, Codable, Sendable {
    /// The kind of the request.
    public var kind: String
    /// Reason why the proof does not hold, with `invalid`.
    public var cause: String?
    /// `apple_validation_category_01` of iOS 27 and later.
    public var validationCategory: Int?
    /// `apple_bundle_version_01` of iOS 27 and later.
    public var bundleVersion: String?

    public init(
        kind: String, cause: String? = nil, validationCategory: Int? = nil, bundleVersion: String? = nil
    ) {
        self.kind = kind
        self.cause = cause
        self.validationCategory = validationCategory
        self.bundleVersion = bundleVersion
    }

    private enum CodingKeys: String, CodingKey {
        case kind
        case cause
        case validationCategory = "validation_category"
        case bundleVersion = "bundle_version"
    }
}

/// The texts of the consent page as plain text, in the order in which they are shown.
public struct AppFlipPrompt: Hashable, Codable, Sendable {
    /// The language of all texts (BCP 47).
    public var language: String
    /// `ltr` or `rtl`.
    public var direction: String
    /// The heading of the sheet.
    public var title: String
    /// Paragraphs below the heading.
    public var purpose: [String]
    /// The heading of the list of scopes.
    public var scopesTitle: String
    /// The scopes of the link, in its order.
    public var scopes: [AppFlipPromptScope]
    /// Sentences below the scopes: the authorization, Google's privacy policy, where to unlink.
    public var notes: [AppFlipPromptNote]
    /// The label of the button for the decision `granted`.
    public var agree: String
    /// The label of the button for the decision `denied`.
    public var cancel: String
    /// The account that is signed in. Absent without `account_id`.
    public var account: AppFlipPromptAccount?
    /// Present if the user can leave out some of the scopes: says how.
    public var optionalScopesNote: String?

    public init(
        language: String, direction: String, title: String, purpose: [String], scopesTitle: String,
        scopes: [AppFlipPromptScope], notes: [AppFlipPromptNote], agree: String, cancel: String,
        account: AppFlipPromptAccount? = nil, optionalScopesNote: String? = nil
    ) {
        self.language = language
        self.direction = direction
        self.title = title
        self.purpose = purpose
        self.scopesTitle = scopesTitle
        self.scopes = scopes
        self.notes = notes
        self.agree = agree
        self.cancel = cancel
        self.account = account
        self.optionalScopesNote = optionalScopesNote
    }

    private enum CodingKeys: String, CodingKey {
        case language
        case direction
        case title
        case purpose
        case scopesTitle = "scopes_title"
        case scopes
        case notes
        case agree
        case cancel
        case account
        case optionalScopesNote = "optional_scopes_note"
    }
}

/// The account that is signed in. Absent without `account_id`.
public struct AppFlipPromptAccount: Hashable, Codable, Sendable {
    /// "Signed in as", in the language of the sheet.
    public var label: String
    /// The name, or the address of a user without a name.
    public var title: String
    /// The address of a user who has a name.
    public var subtitle: String?

    public init(label: String, title: String, subtitle: String? = nil) {
        self.label = label
        self.title = title
        self.subtitle = subtitle
    }

    private enum CodingKeys: String, CodingKey {
        case label
        case title
        case subtitle
    }
}

/// A link to a page of Google.
public struct AppFlipPromptLink: Hashable, Codable, Sendable {
    /// The part of the sentence that is the link.
    public var text: String
    /// The target.
    public var url: String

    public init(text: String, url: String) {
        self.text = text
        self.url = url
    }

    private enum CodingKeys: String, CodingKey {
        case text
        case url
    }
}

/// A sentence, with at most one link in it.
public struct AppFlipPromptNote: Hashable, Codable, Sendable {
    /// The sentence. It contains the text of the link.
    public var text: String
    /// A link to a page of Google.
    public var link: AppFlipPromptLink?

    public init(text: String, link: AppFlipPromptLink? = nil) {
        self.text = text
        self.link = link
    }

    private enum CodingKeys: String, CodingKey {
        case text
        case link
    }
}

/// The contents of the sheet (`prompt`), or the URL that leads back to Google (`redirect_to`), never both.
public struct AppFlipPromptResponse: Hashable, Codable, Sendable {
    /// `prompt` when the app asks the user; otherwise the cause for which it does not.
    public var outcome: String
    /// The texts of the consent page as plain text, in the order in which they are shown.
    public var prompt: AppFlipPrompt?
    /// Open this URL unchanged.
    public var redirectTo: String?
    /// A sentence for the user, with `redirect_to`.
    public var message: String?
    /// With `invalid_request`: the fault of the link, for the developer.
    public var detail: String?
    /// With `redirect_to`: true if the user can be linked after a new sign-in with Apple in the app.
    public var signInAgain: Bool?

    public init(
        outcome: String, prompt: AppFlipPrompt? = nil, redirectTo: String? = nil, message: String? = nil,
        detail: String? = nil, signInAgain: Bool? = nil
    ) {
        self.outcome = outcome
        self.prompt = prompt
        self.redirectTo = redirectTo
        self.message = message
        self.detail = detail
        self.signInAgain = signInAgain
    }

    private enum CodingKeys: String, CodingKey {
        case outcome
        case prompt
        case redirectTo = "redirect_to"
        case message
        case detail
        case signInAgain = "sign_in_again"
    }
}

/// A scope that the link requests.
public struct AppFlipPromptScope: Hashable, Codable, Sendable {
    /// The name, for `granted_scopes`.
    public var scope: String
    /// What the scope allows.
    public var text: String
    /// The user can leave the scope out.
    public var optional: Bool
    /// For `email`: the address that is shared.
    public var detail: String?

    public init(scope: String, text: String, optional: Bool, detail: String? = nil) {
        self.scope = scope
        self.text = text
        self.optional = optional
        self.detail = detail
    }

    private enum CodingKeys: String, CodingKey {
        case scope
        case text
        case optional
        case detail
    }
}

/// The URL that leads back to Google, and what the app can tell the user.
public struct AppFlipResponse: Hashable, Codable, Sendable {
    /// Open this URL unchanged.
    public var redirectTo: String
    /// `code` when Google gets an authorization code; otherwise the cause.
    public var outcome: String
    /// A sentence for the user. In English it is also the `error_description` of `redirect_to`.
    public var message: String
    /// With `invalid_request`: the fault of the request, for the developer.
    public var detail: String?
    /// The authorization code, for an Android app: only with a redirect URI of the project.
    public var code: String?

    public init(
        redirectTo: String, outcome: String, message: String, detail: String? = nil, code: String? = nil
    ) {
        self.redirectTo = redirectTo
        self.outcome = outcome
        self.message = message
        self.detail = detail
        self.code = code
    }

    private enum CodingKeys: String, CodingKey {
        case redirectTo = "redirect_to"
        case outcome
        case message
        case detail
        case code
    }
}

/// A key of App Attest.
public struct AttestedKey: Hashable, Codable, Sendable {
    /// The ID of the key in base64.
    public var keyID: String
    /// The bundle ID of the app that owns the key.
    public var clientID: String
    /// The team of the app.
    public var teamID: String
    /// The environment of the attestation.
    public var environment: String
    /// RFC 3339 in UTC, always with milliseconds.
    public var createdAt: Date
    /// `apple_validation_category_01` of iOS 27 and later, in this attestation.
    public var validationCategory: Int?
    /// `apple_bundle_version_01` of iOS 27 and later, in this attestation.
    public var bundleVersion: String?

    public init(
        keyID: String, clientID: String, teamID: String, environment: String, createdAt: Date,
        validationCategory: Int? = nil, bundleVersion: String? = nil
    ) {
        self.keyID = keyID
        self.clientID = clientID
        self.teamID = teamID
        self.environment = environment
        self.createdAt = createdAt
        self.validationCategory = validationCategory
        self.bundleVersion = bundleVersion
    }

    private enum CodingKeys: String, CodingKey {
        case keyID = "key_id"
        case clientID = "client_id"
        case teamID = "team_id"
        case environment
        case createdAt = "created_at"
        case validationCategory = "validation_category"
        case bundleVersion = "bundle_version"
    }
}

/// See Challenge in siwa's OpenAPI document.
public struct Challenge: Hashable, Codable, Sendable {
    /// The challenge. The app hashes the UTF-8 bytes of this text, and decodes nothing.
    public var challenge: String
    /// RFC 3339 in UTC, always with milliseconds.
    public var expiresAt: Date

    public init(challenge: String, expiresAt: Date) {
        self.challenge = challenge
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case challenge
        case expiresAt = "expires_at"
    }
}

/// See Credential in siwa's OpenAPI document.
public struct Credential: Hashable, Codable, Sendable {
    /// The app's primary client ID.
    public var clientID: String
    /// The values of `getCredentialState`. The user may stay signed in only with `authorized`.
    public var state: CredentialState
    public var reason: CredentialReason?
    public var source: CredentialSource?
    /// RFC 3339 in UTC, always with milliseconds.
    public var since: Date?
    /// Absent when no authorization code was ever posted.
    public var refreshToken: RefreshTokenState?
    /// The reason why there is no refresh token. Only with `unavailable`.
    public var refreshTokenCause: RefreshTokenCause?
    /// The account is disabled here, whatever the state at Apple. Absent otherwise.
    public var accountDisabled: Bool?

    public init(
        clientID: String, state: CredentialState, reason: CredentialReason? = nil,
        source: CredentialSource? = nil, since: Date? = nil, refreshToken: RefreshTokenState? = nil,
        refreshTokenCause: RefreshTokenCause? = nil, accountDisabled: Bool? = nil
    ) {
        self.clientID = clientID
        self.state = state
        self.reason = reason
        self.source = source
        self.since = since
        self.refreshToken = refreshToken
        self.refreshTokenCause = refreshTokenCause
        self.accountDisabled = accountDisabled
    }

    private enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case state
        case reason
        case source
        case since
        case refreshToken = "refresh_token"
        case refreshTokenCause = "refresh_token_cause"
        case accountDisabled = "account_disabled"
    }
}

/// See CredentialList in siwa's OpenAPI document.
public struct CredentialList: Hashable, Codable, Sendable {
    /// In the order of the query.
    public var credentials: [CredentialOfSubject]

    public init(credentials: [CredentialOfSubject]) {
        self.credentials = credentials
    }

    private enum CodingKeys: String, CodingKey {
        case credentials
    }
}

/// See CredentialOfSubject in siwa's OpenAPI document.
public struct CredentialOfSubject: Hashable, Codable, Sendable {
    /// The app's primary client ID.
    public var clientID: String
    /// The values of `getCredentialState`. The user may stay signed in only with `authorized`.
    public var state: CredentialState
    /// The `sub` of the request.
    public var sub: String
    public var reason: CredentialReason?
    public var source: CredentialSource?
    /// RFC 3339 in UTC, always with milliseconds.
    public var since: Date?
    /// Absent when no authorization code was ever posted.
    public var refreshToken: RefreshTokenState?
    /// The reason why there is no refresh token. Only with `unavailable`.
    public var refreshTokenCause: RefreshTokenCause?
    /// The account is disabled here, whatever the state at Apple. Absent otherwise.
    public var accountDisabled: Bool?

    public init(
        clientID: String, state: CredentialState, sub: String, reason: CredentialReason? = nil,
        source: CredentialSource? = nil, since: Date? = nil, refreshToken: RefreshTokenState? = nil,
        refreshTokenCause: RefreshTokenCause? = nil, accountDisabled: Bool? = nil
    ) {
        self.clientID = clientID
        self.state = state
        self.sub = sub
        self.reason = reason
        self.source = source
        self.since = since
        self.refreshToken = refreshToken
        self.refreshTokenCause = refreshTokenCause
        self.accountDisabled = accountDisabled
    }

    private enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case state
        case sub
        case reason
        case source
        case since
        case refreshToken = "refresh_token"
        case refreshTokenCause = "refresh_token_cause"
        case accountDisabled = "account_disabled"
    }
}

/// Present only while the account is disabled.
public struct Disabled: Hashable, Codable, Sendable {
    /// `abuse`: the user broke the rules of the app; `security`: another person may use the account;
    /// `requested`: the user asked for it.
    public var reason: DisablingReason
    /// By this service's clock.
    public var since: Date
    /// Time from which the account is enabled again. Absent without an end.
    public var until: Date?

    public init(reason: DisablingReason, since: Date, until: Date? = nil) {
        self.reason = reason
        self.since = since
        self.until = until
    }

    private enum CodingKeys: String, CodingKey {
        case reason
        case since
        case until
    }
}

/// See ErasedToken in siwa's OpenAPI document.
public struct ErasedToken: Hashable, Codable, Sendable {
    /// The client ID to which the token was issued.
    public var clientID: String
    public var outcome: ErasureOutcome
    /// Number of requests to Apple.
    public var attempts: Int
    /// The reason why the revocation of a token is not proven, or why there was no token: a cause of
    /// `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these
    /// values.
    public var cause: RevocationCause?

    public init(clientID: String, outcome: ErasureOutcome, attempts: Int, cause: RevocationCause? = nil) {
        self.clientID = clientID
        self.outcome = outcome
        self.attempts = attempts
        self.cause = cause
    }

    private enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case outcome
        case attempts
        case cause
    }
}

/// See Erasure in siwa's OpenAPI document.
public struct Erasure: Hashable, Codable, Sendable {
    public var id: String
    /// Opaque and stable.
    public var accountID: String
    public var state: ErasureState
    /// RFC 3339 in UTC, always with milliseconds.
    public var requestedAt: Date
    /// Always `erased`: the data is deleted before the first response.
    public var personalData: String
    /// The Apple tokens that are revoked.
    public var tokens: [ErasedToken]
    /// True if Apple did not accept a revocation: the user must revoke the authorization in Apple's settings.
    public var userMustRevoke: Bool
    /// RFC 3339 in UTC, always with milliseconds.
    public var finishedAt: Date?
    /// The apps that the user must remove.
    public var userMustRevokeAt: [ManualRevocation]?
    /// Instructions for a user who must revoke the authorization at Apple.
    public var instructions: String?

    public init(
        id: String, accountID: String, state: ErasureState, requestedAt: Date, personalData: String,
        tokens: [ErasedToken], userMustRevoke: Bool, finishedAt: Date? = nil,
        userMustRevokeAt: [ManualRevocation]? = nil, instructions: String? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.state = state
        self.requestedAt = requestedAt
        self.personalData = personalData
        self.tokens = tokens
        self.userMustRevoke = userMustRevoke
        self.finishedAt = finishedAt
        self.userMustRevokeAt = userMustRevokeAt
        self.instructions = instructions
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case accountID = "account_id"
        case state
        case requestedAt = "requested_at"
        case personalData = "personal_data"
        case tokens
        case userMustRevoke = "user_must_revoke"
        case finishedAt = "finished_at"
        case userMustRevokeAt = "user_must_revoke_at"
        case instructions
    }
}

/// See ErasureResponse in siwa's OpenAPI document.
public struct ErasureResponse: Hashable, Codable, Sendable {
    public var erasure: Erasure

    public init(erasure: Erasure) {
        self.erasure = erasure
    }

    private enum CodingKeys: String, CodingKey {
        case erasure
    }
}

/// See Event in siwa's OpenAPI document.
public struct Event: Hashable, Codable, Sendable {
    /// Stays the same when the event is read again.
    public var id: String
    public var type: EventType
    /// An Apple developer team.
    public var teamID: String
    /// By Apple's clock.
    public var occurredAt: Date
    /// By this service's clock.
    public var recordedAt: Date
    /// Absent for an erased account.
    public var sub: String?
    /// Opaque and stable.
    public var accountID: String?
    /// A bundle ID or a Services ID.
    public var clientID: String?
    /// With `grant_revoked` and `token_revoked`, the reason of the grant.
    public var reason: String?
    public var source: CredentialSource?
    /// The OAuth grant that was created or has ended. Only with `grant_created`, `grant_revoked` and
    /// `token_revoked`.
    public var grant: GrantOfEvent?

    public init(
        id: String, type: EventType, teamID: String, occurredAt: Date, recordedAt: Date, sub: String? = nil,
        accountID: String? = nil, clientID: String? = nil, reason: String? = nil,
        source: CredentialSource? = nil, grant: GrantOfEvent? = nil
    ) {
        self.id = id
        self.type = type
        self.teamID = teamID
        self.occurredAt = occurredAt
        self.recordedAt = recordedAt
        self.sub = sub
        self.accountID = accountID
        self.clientID = clientID
        self.reason = reason
        self.source = source
        self.grant = grant
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case type
        case teamID = "team_id"
        case occurredAt = "occurred_at"
        case recordedAt = "recorded_at"
        case sub
        case accountID = "account_id"
        case clientID = "client_id"
        case reason
        case source
        case grant
    }
}

/// See EventPage in siwa's OpenAPI document.
public struct EventPage: Hashable, Codable, Sendable {
    /// In commit order.
    public var events: [Event]
    /// The `after` of the next page.
    public var cursor: String
    /// True if another page can be read at once.
    public var hasMore: Bool

    public init(events: [Event], cursor: String, hasMore: Bool) {
        self.events = events
        self.cursor = cursor
        self.hasMore = hasMore
    }

    private enum CodingKeys: String, CodingKey {
        case events
        case cursor
        case hasMore = "has_more"
    }
}

/// The security event of Google that ended the grant.
public struct GoogleEvent: Hashable, Codable, Sendable {
    /// The last part of the event's URI.
    public var type: String
    /// Google's reason. Absent when Google gave no reason, or an unknown one.
    public var reason: String?

    public init(type: String, reason: String? = nil) {
        self.type = type
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case reason
    }
}

/// See Grant in siwa's OpenAPI document.
public struct Grant: Hashable, Codable, Sendable {
    public var id: String
    /// Opaque and stable.
    public var accountID: String
    /// The OAuth client, by the ID in its configuration.
    public var clientID: String
    /// The primary client ID of the app.
    public var app: String
    /// All scopes that the user has agreed to, separated by spaces.
    public var scope: String
    /// True if the `sub` of the Google account is known, as after streamlined linking. Google's events about
    /// the account end only grants with true.
    public var googleAccountKnown: Bool
    /// RFC 3339 in UTC, always with milliseconds.
    public var createdAt: Date
    /// RFC 3339 in UTC, always with milliseconds.
    public var consentedAt: Date
    /// Absent for a client that is no longer configured.
    public var clientName: String?
    /// The last day (UTC) on which the client got tokens; absent before the first tokens.
    public var lastUsedOn: String?

    public init(
        id: String, accountID: String, clientID: String, app: String, scope: String, googleAccountKnown: Bool,
        createdAt: Date, consentedAt: Date, clientName: String? = nil, lastUsedOn: String? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.app = app
        self.scope = scope
        self.googleAccountKnown = googleAccountKnown
        self.createdAt = createdAt
        self.consentedAt = consentedAt
        self.clientName = clientName
        self.lastUsedOn = lastUsedOn
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case accountID = "account_id"
        case clientID = "client_id"
        case app
        case scope
        case googleAccountKnown = "google_account_known"
        case createdAt = "created_at"
        case consentedAt = "consented_at"
        case clientName = "client_name"
        case lastUsedOn = "last_used_on"
    }
}

/// The OAuth grant that was created or has ended. Only with `grant_created`, `grant_revoked` and
/// `token_revoked`.
public struct GrantOfEvent: Hashable, Codable, Sendable {
    public var id: String
    /// The OAuth client.
    public var clientID: String
    /// Only with `grant_revoked` and `token_revoked`.
    public var reason: GrantEndReason?
    /// Only with the reason `google_revoked`.
    public var googleEvent: GoogleEvent?

    public init(
        id: String, clientID: String, reason: GrantEndReason? = nil, googleEvent: GoogleEvent? = nil
    ) {
        self.id = id
        self.clientID = clientID
        self.reason = reason
        self.googleEvent = googleEvent
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case clientID = "client_id"
        case reason
        case googleEvent = "google_event"
    }
}

/// See Grants in siwa's OpenAPI document.
public struct Grants: Hashable, Codable, Sendable {
    /// All grants of the account.
    public var grants: [Grant]

    public init(grants: [Grant]) {
        self.grants = grants
    }

    private enum CodingKeys: String, CodingKey {
        case grants
    }
}

/// The claims of the token with Apple's names, and with JSON booleans.
public struct Identity: Hashable, Codable, Sendable {
    /// The issuer. Always Apple.
    public var iss: String
    /// `sub`: Apple's user ID for one team. It is compared as bytes.
    public var sub: String
    /// A bundle ID or a Services ID.
    public var aud: String
    /// An Apple developer team.
    public var teamID: String
    /// The app's primary client ID.
    public var clientID: String
    /// RFC 3339 in UTC, always with milliseconds.
    public var iat: Date
    /// RFC 3339 in UTC, always with milliseconds.
    public var exp: Date
    /// RFC 3339 in UTC, always with milliseconds.
    public var authTime: Date?
    /// The nonce of the request, as the token has it.
    public var nonce: String?
    /// True if the platform supports nonces.
    public var nonceSupported: Bool?
    /// The hash of the authorization code (OpenID Connect Core §3.3.2.11).
    public var cHash: String?
    /// The hash of the access token (OpenID Connect Core §3.1.3.6).
    public var atHash: String?
    /// The e-mail address or the private relay address.
    public var email: String?
    /// Apple has verified the address.
    public var emailVerified: Bool?
    /// Apple's claim. Without the claim, true if the address has one of Apple's relay domains.
    public var isPrivateEmail: Bool?
    /// 0 unsupported, 1 unknown, 2 likely real. Apple may add numbers.
    public var realUserStatus: Int?
    /// The user's transfer identifier, for 60 days after a transfer of the app.
    public var transferSub: String?
    /// The organization of a managed Apple Account.
    public var orgID: String?

    public init(
        iss: String, sub: String, aud: String, teamID: String, clientID: String, iat: Date, exp: Date,
        authTime: Date? = nil, nonce: String? = nil, nonceSupported: Bool? = nil, cHash: String? = nil,
        atHash: String? = nil, email: String? = nil, emailVerified: Bool? = nil, isPrivateEmail: Bool? = nil,
        realUserStatus: Int? = nil, transferSub: String? = nil, orgID: String? = nil
    ) {
        self.iss = iss
        self.sub = sub
        self.aud = aud
        self.teamID = teamID
        self.clientID = clientID
        self.iat = iat
        self.exp = exp
        self.authTime = authTime
        self.nonce = nonce
        self.nonceSupported = nonceSupported
        self.cHash = cHash
        self.atHash = atHash
        self.email = email
        self.emailVerified = emailVerified
        self.isPrivateEmail = isPrivateEmail
        self.realUserStatus = realUserStatus
        self.transferSub = transferSub
        self.orgID = orgID
    }

    private enum CodingKeys: String, CodingKey {
        case iss
        case sub
        case aud
        case teamID = "team_id"
        case clientID = "client_id"
        case iat
        case exp
        case authTime = "auth_time"
        case nonce
        case nonceSupported = "nonce_supported"
        case cHash = "c_hash"
        case atHash = "at_hash"
        case email
        case emailVerified = "email_verified"
        case isPrivateEmail = "is_private_email"
        case realUserStatus = "real_user_status"
        case transferSub = "transfer_sub"
        case orgID = "org_id"
    }
}

/// An introspection response (RFC 7662 §2.2). An inactive token has `active` alone.
public struct IntrospectionResponse: Hashable, Codable, Sendable {
    /// True if the token is good now: issued here, not expired, not revoked, and the account may use it.
    public var active: Bool
    /// The granted scope. Space-separated.
    public var scope: String?
    /// The OAuth client.
    public var clientID: String?
    /// The account ID.
    public var sub: String?
    /// The issuer of the token.
    public var iss: String?
    /// When the end user signed in with Apple, in seconds since 1970.
    public var authTime: Int?
    /// `Bearer`, of an access token.
    public var tokenType: String?
    /// The audience of the client.
    public var aud: String?
    /// When the token was issued, in seconds since 1970.
    public var iat: Int?
    /// When the token expires, in seconds since 1970.
    public var exp: Int?
    /// The ID of the token.
    public var jti: String?

    public init(
        active: Bool, scope: String? = nil, clientID: String? = nil, sub: String? = nil, iss: String? = nil,
        authTime: Int? = nil, tokenType: String? = nil, aud: String? = nil, iat: Int? = nil, exp: Int? = nil,
        jti: String? = nil
    ) {
        self.active = active
        self.scope = scope
        self.clientID = clientID
        self.sub = sub
        self.iss = iss
        self.authTime = authTime
        self.tokenType = tokenType
        self.aud = aud
        self.iat = iat
        self.exp = exp
        self.jti = jti
    }

    private enum CodingKeys: String, CodingKey {
        case active
        case scope
        case clientID = "client_id"
        case sub
        case iss
        case authTime = "auth_time"
        case tokenType = "token_type"
        case aud
        case iat
        case exp
        case jti
    }
}

/// See KeyRegistration in siwa's OpenAPI document.
public struct KeyRegistration: Hashable, Codable, Sendable {
    /// A key of App Attest.
    public var key: AttestedKey
    /// False if the key was registered before.
    public var isNewKey: Bool

    public init(key: AttestedKey, isNewKey: Bool) {
        self.key = key
        self.isNewKey = isNewKey
    }

    private enum CodingKeys: String, CodingKey {
        case key
        case isNewKey = "is_new_key"
    }
}

/// See ManualRevocation in siwa's OpenAPI document.
public struct ManualRevocation: Hashable, Codable, Sendable {
    /// A bundle ID or a Services ID.
    public var clientID: String
    /// The reason why the revocation of a token is not proven, or why there was no token: a cause of
    /// `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these
    /// values.
    public var cause: RevocationCause

    public init(clientID: String, cause: RevocationCause) {
        self.clientID = clientID
        self.cause = cause
    }

    private enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case cause
    }
}

/// See Nonce in siwa's OpenAPI document.
public struct Nonce: Hashable, Codable, Sendable {
    /// The raw nonce, which the backend posts with the token.
    public var nonce: String
    /// The value for Apple in a native app.
    public var nonceSHA256: String
    /// RFC 3339 in UTC, always with milliseconds.
    public var expiresAt: Date

    public init(nonce: String, nonceSHA256: String, expiresAt: Date) {
        self.nonce = nonce
        self.nonceSHA256 = nonceSHA256
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case nonce
        case nonceSHA256 = "nonce_sha256"
        case expiresAt = "expires_at"
    }
}

/// See SignInOutcome in siwa's OpenAPI document.
public struct SignInOutcome: Hashable, Codable, Sendable {
    public var account: Account
    public var credential: Credential
    /// True if this sign-in created the account.
    public var isNewAccount: Bool
    /// Result of judging the app. Absent where App Check is off.
    public var appCheck: AppCheckResult?
    /// Values that decide nothing and were dropped for their form. Absent without any.
    public var dropped: [String]?

    public init(
        account: Account, credential: Credential, isNewAccount: Bool, appCheck: AppCheckResult? = nil,
        dropped: [String]? = nil
    ) {
        self.account = account
        self.credential = credential
        self.isNewAccount = isNewAccount
        self.appCheck = appCheck
        self.dropped = dropped
    }

    private enum CodingKeys: String, CodingKey {
        case account
        case credential
        case isNewAccount = "is_new_account"
        case appCheck = "app_check"
        case dropped
    }
}

/// See VerifiedIdentity in siwa's OpenAPI document.
public struct VerifiedIdentity: Hashable, Codable, Sendable {
    /// The claims of the token with Apple's names, and with JSON booleans.
    public var identity: Identity
    /// Result of judging the app. Absent where App Check is off.
    public var appCheck: AppCheckResult?
    /// Values that decide nothing and were dropped for their form. Absent without any.
    public var dropped: [String]?

    public init(identity: Identity, appCheck: AppCheckResult? = nil, dropped: [String]? = nil) {
        self.identity = identity
        self.appCheck = appCheck
        self.dropped = dropped
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case appCheck = "app_check"
        case dropped
    }
}
