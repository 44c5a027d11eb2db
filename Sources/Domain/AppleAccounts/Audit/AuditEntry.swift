/// A fact for the audit log, before the store numbers and seals it.
public struct AuditEntry: Sendable, Hashable {
    public let facts: AuditFacts
    /// The affected account; `nil` if there is none.
    public let person: AuditPerson?

    public init(_ facts: AuditFacts, person: AuditPerson? = nil) {
        (self.facts, self.person) = (facts, person)
    }

    public init(
        _ action: AuditAction, by origin: AuditOrigin, at moment: Moment, outcome: AuditOutcome = .done,
        reason: String? = nil, oauthClient: OAuthClientID? = nil, detail: String? = nil,
        person: AuditPerson? = nil
    ) {
        facts = AuditFacts(
            moment: moment, actor: origin.actor, action: action, outcome: outcome, reason: reason,
            oauthClient: oauthClient, requestID: origin.requestID, detail: detail)
        self.person = person
    }

    /// This entry without its reference to a person.
    public var withoutPerson: AuditEntry {
        AuditEntry(
            facts,
            person: person.map {
                AuditPerson($0.account, tokenFamily: $0.tokenFamily, scope: $0.scope, isErased: true)
            })
    }
}

/// The account that an entry is about.
public struct AuditPerson: Sendable, Hashable {
    public let account: AccountID
    /// The token family that began or ended. Access tokens contain its ID, so it is data about the user too.
    public let tokenFamily: UniqueID?
    /// The scope that the user granted, space-separated.
    public let scope: String?
    /// True if the user has been erased. The row then keeps the digest, but not its salt.
    public let isErased: Bool

    public init(
        _ account: AccountID, tokenFamily: UniqueID? = nil, scope: String? = nil, isErased: Bool = false
    ) {
        (self.account, self.tokenFamily, self.isErased) = (account, tokenFamily, isErased)
        self.scope = scope.flatMap { AuditFacts.storable($0, AuditFacts.longestDetail) }
    }
}

/// The part of an audit log row that never changes and names no user. It contains no token, address or key,
/// and no text from outside the service.
public struct AuditFacts: Sendable, Hashable {
    /// Maximum length of the detail, in characters.
    public static let longestDetail = 500
    /// Maximum length of the other strings, in characters.
    public static let longestName = 255

    /// Time of the fact, by our clock.
    public let moment: Moment
    public let actor: AuditActor
    public let action: AuditAction
    public let outcome: AuditOutcome
    /// Name of the rule that ended a grant or refused the action.
    public let reason: String?
    public let oauthClient: OAuthClientID?
    public let requestID: String?
    public let detail: String?

    /// Creates the facts. Strings that are too long for a store are shortened, so that no fact is lost
    /// because of its length.
    public init(
        moment: Moment, actor: AuditActor, action: AuditAction, outcome: AuditOutcome = .done,
        reason: String? = nil, oauthClient: OAuthClientID? = nil, requestID: String? = nil,
        detail: String? = nil
    ) {
        (self.moment, self.action, self.outcome) = (moment, action, outcome)
        self.actor = AuditActor(
            kind: actor.kind, name: actor.name.flatMap { Self.storable($0, Self.longestName) })
        self.reason = reason.flatMap { Self.storable($0, Self.longestName) }
        self.oauthClient = oauthClient
        self.requestID = requestID.flatMap { Self.storable($0, Self.longestName) }
        self.detail = detail.flatMap { Self.storable($0, Self.longestDetail) }
    }

    /// Shortens a string. Databases count code points, and PostgreSQL cannot store U+0000.
    static func storable(_ text: String, _ longest: Int) -> String? {
        guard !text.isEmpty else { return nil }
        let isPlain = text.utf8.count <= longest && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
        if isPlain { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(longest) {
            scalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }
}

extension AuditEntry {
    /// Returns an entry for resuming an event receiver, attributed to the current actor.
    package static func resumed(_ name: ReceiverName, at moment: Moment) -> AuditEntry {
        AuditEntry(.deliveryResumed, by: .current, at: moment, detail: name.rawValue)
    }

    /// Returns an entry for redelivering events to a receiver, attributed to the current actor.
    package static func replayed(_ name: ReceiverName, after cursor: Int64, at moment: Moment) -> AuditEntry {
        AuditEntry(
            .deliveryReplayed, by: .current, at: moment, detail: "\(name.rawValue) after event \(cursor)")
    }
}

/// The kinds of audit log facts. The raw values are the words used
/// in exports. The hash chain covers them, so a word never changes.
public enum AuditAction: String, Sendable, CaseIterable {
    /// A user allowed an OAuth client to act for them.
    case grantCreated = "grant_created"
    /// A user gave a grant a larger scope.
    case grantWidened = "grant_widened"
    case grantEnded = "grant_ended"
    /// A token family began: an access token, with or without a refresh token. Later refreshes add no row.
    case tokensIssued = "tokens_issued"
    /// A token family ended before it expired.
    case tokensEnded = "tokens_ended"
    case accountErased = "account_erased"
    case accountDisabled = "account_disabled"
    case accountEnabled = "account_enabled"
    case accountSignedOut = "account_signed_out"
    case accountTransferred = "account_transferred"
    /// A page of accounts was returned, to an API caller or by a command.
    case accountsExported = "accounts_exported"
    case auditExported = "audit_exported"
    /// Rows past their retention time were deleted. The detail has the last deleted row's number and hash.
    case auditPurged = "audit_purged"
    /// Part of the configuration has changed since the last start.
    case configurationChanged = "configuration_changed"
    case signingKeyMade = "signing_key_made"
    case signingKeyRemoved = "signing_key_removed"
    case secretsResealed = "secrets_resealed"
    case deliveryResumed = "delivery_resumed"
    case deliveryReplayed = "delivery_replayed"
    case consoleSignIn = "console_sign_in"
    case consoleSignOut = "console_sign_out"
    /// An operator looked at personal data that the console masks.
    case consoleShow = "console_show"
    case requestReplayed = "request_replayed"
}

/// The outcome of an action in an audit log row.
public enum AuditOutcome: String, Sendable, CaseIterable {
    case done
    /// A rule refused the action, so nothing changed. The reason is the rule's name.
    case refused
}

/// The actor who performed the action in an audit log row.
public struct AuditActor: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A backend, identified by its API key's name.
        case apiKey = "api_key"
        case oauthClient = "oauth_client"
        /// A console operator, identified by the name of the operator's API key.
        case consoleOperator = "operator"
        /// The service itself: a worker, or the startup code.
        case service
        /// A terminal command.
        case command
        /// A user in a browser or an app. Rows never contain a user's name.
        case user
        case apple
        case google
    }

    public let kind: Kind
    /// The name of the API key, client or command, never the key itself; `nil` if there is no name.
    public let name: String?

    private init(_ kind: Kind, _ name: String? = nil) { (self.kind, self.name) = (kind, name) }

    /// Creates an actor from stored values.
    public init(kind: Kind, name: String?) { self.init(kind, name) }

    public static let service = AuditActor(.service)
    public static let user = AuditActor(.user)
    public static let apple = AuditActor(.apple)
    public static let google = AuditActor(.google)

    /// - Parameter name: Name of the API key; `nil` in development without API keys.
    public static func apiKey(_ name: String?) -> AuditActor { AuditActor(.apiKey, name) }
    public static func oauthClient(_ id: OAuthClientID) -> AuditActor {
        AuditActor(.oauthClient, id.rawValue)
    }
    public static func consoleOperator(_ name: String) -> AuditActor { AuditActor(.consoleOperator, name) }

    /// - Parameter name: The command's name, for example "transfer apply".
    public static func command(_ name: String) -> AuditActor { AuditActor(.command, name) }
}

/// The actor that issued a command, and the request that contained it, for the audit log.
///
/// The type is a class, so that commands carry only an eight-byte reference.
public final class AuditOrigin: Sendable {
    public let actor: AuditActor
    public let requestID: String?
    /// False if the actor already has many rows, so that a refused change adds no further row.
    public let notesRefusals: Bool

    public init(_ actor: AuditActor, requestID: String? = nil, notesRefusals: Bool = true) {
        (self.actor, self.requestID, self.notesRefusals) = (actor, requestID, notesRefusals)
    }

    public static let service = AuditOrigin(.service)
    public static let apple = AuditOrigin(.apple)

    /// The origin of this task's work. The API sets it for each request, the console for each page, and a
    /// terminal command for its whole run; an account command reads it when it is created. Work outside any
    /// request is attributed to the service itself.
    @TaskLocal public static var current = AuditOrigin.service

    /// Returns this origin with another actor, for rules that know the actor more precisely than the caller
    /// does.
    public func acting(as actor: AuditActor) -> AuditOrigin {
        actor == self.actor
            ? self : AuditOrigin(actor, requestID: requestID, notesRefusals: notesRefusals)
    }

    public var withoutRefusals: AuditOrigin {
        AuditOrigin(actor, requestID: requestID, notesRefusals: false)
    }
}

extension AuditOrigin: Hashable {
    public static func == (one: AuditOrigin, other: AuditOrigin) -> Bool {
        one === other || (one.actor == other.actor && one.requestID == other.requestID)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(actor)
        hasher.combine(requestID)
    }
}
