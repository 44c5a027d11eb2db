public import AppleAccounts
import HTTPEngine
import NIOHTTP1
import SignIn
public import StrictJSON

// The request and response bodies of the account, credential, event and erasure endpoints.

extension Account: JSONBody {
    public static var schemaName: String { "Account" }

    @inline(__always)
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("id") { $0.id }
        member("team_id") { $0.team }
        member("sub") { $0.subject }
        member("email", .length(1...320, "The e-mail address or the private relay address.")) { $0.email }
        member("email_verified", "Apple has verified the address.") { $0.isEmailVerified }
        member("is_private_email", "Absent when it is not known.") { $0.isPrivateEmail }
        member("email_forwarding") { $0.emailForwarding }
        member("first_name", .length(1...256, "The first name that the app posted at the first sign-in.")) {
            $0.profile.firstName
        }
        member("last_name", .length(1...256, "The last name that the app posted at the first sign-in.")) {
            $0.profile.lastName
        }
        member("real_user_status", .realUserStatus) { $0.realUserStatus }
        member("disabled") { $0.disabling }
        member(
            "sessions_ended_at", "Time at which the user was last signed out everywhere. Absent when never."
        ) {
            $0.sessionsEndedAt
        }
        member("created_at") { $0.createdAt }
        member("last_sign_in_at", "Time of the last sign-in to one of the apps that the caller may see.") {
            $0.lastSignInAt
        }
        member("credentials", "One credential for each app that the caller may see.") { $0.credentials }
    }
}

extension JSONSchema {
    static var realUserStatus: JSONSchema {
        .component("RealUserStatus") {
            [
                "type": "integer",
                "description": "0 unsupported, 1 unknown, 2 likely real. Apple may add numbers.",
                "examples": [2],
            ]
        }
    }
}

extension EmailForwarding: JSONWord {
    public static var schemaName: String { "EmailForwarding" }
    public static var schemaText: String { "Apple's forwarding of e-mail from the relay address." }
}

extension Disabling: JSONBody {
    public static var schemaName: String { "Disabled" }
    public static var schemaText: String { "Present only while the account is disabled." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("reason") { $0.reason }
        member("since", "By this service's clock.") { $0.since }
        member("until", "Time from which the account is enabled again. Absent without an end.") {
            $0.until < .last ? $0.until : nil
        }
    }
}

extension Disabling.Reason: JSONWord {
    public static var schemaName: String { "DisablingReason" }
    public static var schemaText: String {
        """
        `abuse`: the user broke the rules of the app; `security`: another person may use the account; `requested`: the
        user asked for it.
        """
    }
}

extension Credential: JSONBody {
    public static var schemaName: String { "Credential" }

    @inline(__always)
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("client_id", "The app's primary client ID.") { $0.clientID }
        member("state") { $0.state }
        member("reason") { $0.reason }
        member("source") { $0.source }
        member("since") { $0.since }
        member("refresh_token") { $0.refreshToken.map { RefreshTokenState($0) } }
        member("refresh_token_cause") { credential -> RefreshTokenCause? in
            if case .unavailable(let cause)? = credential.refreshToken { cause } else { nil }
        }
        member(
            "account_disabled",
            [
                "type": "boolean", "const": true,
                "description": "The account is disabled here, whatever the state at Apple. Absent otherwise.",
            ]
        ) { $0.disabledUntil == nil ? nil : true }
    }
}

/// The state of a stored refresh token, as named in the API.
enum RefreshTokenState: String, JSONWord {
    static var schemaName: String { "RefreshTokenState" }
    static var schemaText: String { "Absent when no authorization code was ever posted." }

    case held, pending, unavailable

    init(_ status: RefreshTokenStatus) {
        self =
            switch status {
            case .held: .held
            case .pending: .pending
            case .unavailable: .unavailable
            }
    }
}

extension RefreshTokenCause: JSONWord {
    public static var schemaName: String { "RefreshTokenCause" }
    public static var schemaText: String {
        "The reason why there is no refresh token. Only with `unavailable`."
    }
}

struct CredentialList: JSONBody {
    static var schemaName: String { "CredentialList" }
    let credentials: [CredentialOfSubject]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("credentials", "In the order of the query.") { $0.credentials }
    }
}

struct CredentialOfSubject: JSONBody {
    static var schemaName: String { "CredentialOfSubject" }
    let subject: String
    let credential: Credential

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("sub", .nonEmpty("The `sub` of the request.")) { $0.subject }
        member.members(of: { $0.credential })
    }
}

extension AccountPage: JSONBody {
    public static var schemaName: String { "AccountPage" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "accounts",
            [
                "description": "The newest first. Can be empty although more accounts match.",
                "maxItems": .integer(Int64(SignInUseCases.largestAccountPage)),
            ]
        ) { $0.accounts }
        member("cursor", .nonEmpty("The `after` of the next page. Absent on the last page.")) {
            $0.next?.text
        }
        member("has_more", "True if there is a next page.") { $0.next != nil }
    }
}

extension HTTPResponse {
    /// Returns the response for an account.
    static func account(_ account: Account) -> HTTPResponse {
        .json(.ok, account, reservingCapacity: 768)
    }

    /// Returns the response for a page of search results.
    static func accounts(_ page: AccountPage) -> HTTPResponse {
        .json(.ok, page, reservingCapacity: 64 + 768 * page.accounts.count)
    }

    /// Returns the response for a page of events.
    static func events(_ page: EventPage) -> HTTPResponse {
        .json(.ok, page, reservingCapacity: 64 + 384 * page.events.count)
    }
}

extension EventPage: JSONBody {
    public static var schemaName: String { "EventPage" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "events",
            [
                "description": "In commit order.",
                "maxItems": .integer(Int64(SignInUseCases.largestEventPage)),
            ]
        ) { $0.events }
        // The cursor is a string, so that clients treat it as opaque.
        member("cursor", .nonEmpty("The `after` of the next page.")) { String($0.cursor) }
        member("has_more", "True if another page can be read at once.") { $0.hasMore }
    }
}

struct ErasureResponse: JSONBody {
    static var schemaName: String { "ErasureResponse" }
    let erasure: ErasureRecord

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("erasure") { $0.erasure }
    }
}

/// The completed and the remaining work of an erasure. Contains nothing that identifies the user.
extension ErasureRecord: JSONBody {
    public static var schemaName: String { "Erasure" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("id") { $0.id }
        member("account_id") { $0.accountID }
        member("state", .erasureState) { $0.finishedAt == nil ? "in_progress" : "completed" }
        member("requested_at") { $0.requestedAt }
        member("finished_at") { $0.finishedAt }
        member(
            "personal_data",
            [
                "type": "string", "const": "erased",
                "description": "Always `erased`: the data is deleted before the first response.",
            ]
        ) { _ in "erased" }
        member("tokens", "The Apple tokens that are revoked.") { $0.tokens }
        member(
            "user_must_revoke",
            "True if Apple did not accept a revocation: the user must revoke the authorization in Apple's settings."
        ) { !ManualRevocation.needed(after: $0).isEmpty }
        member(
            "user_must_revoke_at", ["description": "The apps that the user must remove.", "minItems": 1]
        ) { ManualRevocation.needed(after: $0).unlessEmpty }
        member(
            "instructions", .nonEmpty("Instructions for a user who must revoke the authorization at Apple.")
        ) { ManualRevocation.needed(after: $0).isEmpty ? nil : ManualRevocation.instructions }
    }
}

extension JSONSchema {
    fileprivate static var erasureState: JSONSchema {
        .component("ErasureState") { .words(["in_progress", "completed"]) }
    }

    fileprivate static var erasureOutcome: JSONSchema {
        .component("ErasureOutcome") { .words(["pending"] + ErasureOutcome.allCases.map(\.rawValue)) }
    }

    fileprivate static var revocationCause: JSONSchema {
        .component("RevocationCause") {
            JSONSchema.words(
                [
                    "still_valid", "no_token", "unreachable", "circuit_open", "timed_out", "connection_lost",
                    "answer_unusable", "server_failed", "throttled", "signing_failed", "invalid_client",
                    "invalid_grant", "invalid_request", "unauthorized_client", "unsupported_grant_type",
                    "invalid_scope",
                ],
                """
                The reason why the revocation of a token is not proven, or why there was no token: a cause of
                `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these values.
                """
            ).with(.nonEmpty())
        }
    }
}

extension ErasureToken: JSONBody {
    public static var schemaName: String { "ErasedToken" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("client_id", "The client ID to which the token was issued.") { $0.clientID }
        member("outcome", .erasureOutcome) { token -> String in
            if case .done(let outcome) = token.step { outcome.rawValue } else { "pending" }
        }
        member("cause", .revocationCause) { $0.cause }
        member("attempts", .from(0, "Number of requests to Apple.")) { $0.attempts }
    }
}

/// An app that the user must disconnect at Apple, because this service could not prove that Apple revoked the
/// app's token.
struct ManualRevocation: Equatable {
    /// The app's primary client ID.
    let clientID: ClientID
    /// The reason why the service had no token, or could not revoke the token.
    let cause: String

    /// Returns the apps that the user must disconnect. One proven revocation per app is enough, because it
    /// ends the user's consent for the whole app. The result is unknown while a revocation is in progress. An
    /// app for which the user had already withdrawn consent needs no revocation.
    static func needed(after record: ErasureRecord) -> [ManualRevocation] {
        record.apps.compactMap { app in
            guard app.stateBefore == .authorized else { return nil }
            let tokens = record.tokens.filter { $0.primaryClientID == app.clientID }
            guard tokens.allSatisfy(\.isDone), !tokens.contains(where: { $0.step == .done(.provenRevoked) })
            else { return nil }
            let cause = tokens.compactMap(\.cause).first ?? app.refreshTokenCause?.rawValue ?? "no_token"
            return ManualRevocation(clientID: app.clientID, cause: cause)
        }
    }

    static let instructions =
        "Apple still lists the app for this user, who can remove it: on an iPhone in Settings, their name, "
        + "Sign-In & Security, Sign in with Apple, the app, Stop Using Apple Account; in a browser at "
        + "account.apple.com under Sign-In and Security, Sign in with Apple."
}

extension ManualRevocation: JSONBody {
    public static var schemaName: String { "ManualRevocation" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("client_id") { $0.clientID }
        member("cause", .revocationCause) { $0.cause }
    }
}

/// The body of `POST /v1/accounts/{id}/disable`.
struct DisablingRequest: RequestBody {
    static var schemaName: String { "DisablingRequest" }
    let reason: Disabling.Reason
    /// End of the disabled period; `nil` for an account that stays disabled.
    let until: Moment?

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        reason = try member.required(
            "reason", "Reason for which the account is disabled. Callers see it, users do not.")
        until = try member(
            "until",
            "Time in the future from which the account is enabled again. Without it the account stays disabled."
        )
    }
}

extension Disabling.Reason: RequestWord {}

/// The body of `POST /v1/accounts/{id}/sign-out`.
struct SignOutRequest: RequestBody {
    static var schemaName: String { "SignOutRequest" }
    let endsGoogleLinks: Bool

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        endsGoogleLinks =
            try member("google", "True if the links with Google end too. False by default.") ?? false
    }
}

/// The body of `POST /v1/credentials/query`.
struct CredentialQuery: RequestBody {
    static var schemaName: String { "CredentialQuery" }
    /// Maximum number of subjects in a query.
    static let mostSubjects = 1000

    let clientID: String
    let subjects: [String]

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        clientID = try member.required("client_id", .text)
        subjects = try member.required(
            "subs", 1...Self.mostSubjects,
            "Apple's user IDs. The response has the credentials in the same order.")
    }
}
