/// A fact for the audit log, before the store seals and numbers it.
public struct AuditEntry: Sendable, Hashable {
    public let facts: AuditFacts
    /// The account concerned; `nil` if there is none.
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

    /// The entry without a reference to its person.
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
    /// The token family that began or ended. An access token names it, so it is data about the user too.
    public let tokenFamily: UniqueID?
    /// The scope that the user allowed, space-separated.
    public let scope: String?
    /// True if the user is erased: the row keeps a digest without its salt.
    public let isErased: Bool

    public init(
        _ account: AccountID, tokenFamily: UniqueID? = nil, scope: String? = nil, isErased: Bool = false
    ) {
        (self.account, self.tokenFamily, self.isErased) = (account, tokenFamily, isErased)
        self.scope = scope.flatMap { AuditFacts.storable($0, AuditFacts.longestDetail) }
    }
}

/// The part of a row of the audit log that never changes and names no user. It has no token,
/// no address, no key, and no text from outside.
public struct AuditFacts: Sendable, Hashable {
    /// Largest number of characters of the detail.
    public static let longestDetail = 500
    /// Largest number of characters of the other texts.
    public static let longestName = 255

    /// Time of the fact, by our clock.
    public let moment: Moment
    public let actor: AuditActor
    public let action: AuditAction
    public let outcome: AuditOutcome
    /// A rule's word for the end of a grant, or for a refusal.
    public let reason: String?
    public let oauthClient: OAuthClientID?
    public let requestID: String?
    public let detail: String?

    /// Creates the facts. Shortens texts that a store would not accept,
    /// so that no fact is lost because of its length.
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

    /// Shortens a text. Databases count code points, and PostgreSQL has no U+0000.
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
    /// Returns the entry about the resumption of an event receiver, by the party behind the current work.
    package static func resumed(_ name: ReceiverName, at moment: Moment) -> AuditEntry {
        AuditEntry(.deliveryResumed, by: .current, at: moment, detail: name.rawValue)
    }

    /// Returns the entry about a repeated delivery of events to a
    /// receiver, by the party behind the current work.
    package static func replayed(_ name: ReceiverName, after cursor: Int64, at moment: Moment) -> AuditEntry {
        AuditEntry(
            .deliveryReplayed, by: .current, at: moment, detail: "\(name.rawValue) after event \(cursor)")
    }
}

/// The kinds of facts in the audit log. The raw values are the words of exports, and the
/// hash chain covers them: a word never changes.
public enum AuditAction: String, Sendable, CaseIterable {
    /// A user allowed an OAuth client to act for them.
    case grantCreated = "grant_created"
    /// A user gave a grant a larger scope.
    case grantWidened = "grant_widened"
    case grantEnded = "grant_ended"
    /// A token family began: an access token, with or without a refresh token. Later refreshes belong to it.
    case tokensIssued = "tokens_issued"
    /// A token family ended before its time.
    case tokensEnded = "tokens_ended"
    case accountErased = "account_erased"
    case accountDisabled = "account_disabled"
    case accountEnabled = "account_enabled"
    case accountSignedOut = "account_signed_out"
    case accountTransferred = "account_transferred"
    /// Accounts of a page of the interface, or of a command, were returned to the caller.
    case accountsExported = "accounts_exported"
    case auditExported = "audit_exported"
    /// Rows past their time were deleted. The detail has the number and the hash of the last deleted row.
    case auditPurged = "audit_purged"
    /// A part of the configuration differs from the last start.
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

/// The outcome of the action in a row of the audit log.
public enum AuditOutcome: String, Sendable, CaseIterable {
    case done
    /// A rule refused the action, and nothing changed. The reason has the rule's word.
    case refused
}

/// The party that executed the action in a row of the audit log.
public struct AuditActor: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A backend, by the name of its API key.
        case apiKey = "api_key"
        case oauthClient = "oauth_client"
        /// An operator in the console, by the name of the operator's API key.
        case consoleOperator = "operator"
        /// This service itself: a worker, or the start.
        case service
        /// A command on the terminal.
        case command
        /// A user in a browser or an app. A row never has a user's name.
        case user
        case apple
        case google
    }

    public let kind: Kind
    /// The name of the key, the client or the command; never a key. `nil` if the kind suffices.
    public let name: String?

    private init(_ kind: Kind, _ name: String? = nil) { (self.kind, self.name) = (kind, name) }

    /// Creates an actor from stored values.
    public init(kind: Kind, name: String?) { self.init(kind, name) }

    public static let service = AuditActor(.service)
    public static let user = AuditActor(.user)
    public static let apple = AuditActor(.apple)
    public static let google = AuditActor(.google)

    /// - Parameter name: Name of the key; `nil` in development without API keys.
    public static func apiKey(_ name: String?) -> AuditActor { AuditActor(.apiKey, name) }
    public static func oauthClient(_ id: OAuthClientID) -> AuditActor {
        AuditActor(.oauthClient, id.rawValue)
    }
    public static func consoleOperator(_ name: String) -> AuditActor { AuditActor(.consoleOperator, name) }

    /// - Parameter name: The words of the command, such as "transfer apply".
    public static func command(_ name: String) -> AuditActor { AuditActor(.command, name) }
}

/// The party behind a command, and the request that brought it, for the audit log.
///
/// A class, so that commands carry a reference of eight bytes.
public final class AuditOrigin: Sendable {
    public let actor: AuditActor
    public let requestID: String?
    /// False if a refused change of the actor leaves no row, because the actor already has many rows.
    public let notesRefusals: Bool

    public init(_ actor: AuditActor, requestID: String? = nil, notesRefusals: Bool = true) {
        (self.actor, self.requestID, self.notesRefusals) = (actor, requestID, notesRefusals)
    }

    public static let service = AuditOrigin(.service)
    public static let apple = AuditOrigin(.apple)

    /// The origin of this task's work. The interface binds it around a request, the console around
    /// a page, and a command around its whole run; a command reads it when it is created. Work
    /// without a request belongs to the service itself.
    @TaskLocal public static var current = AuditOrigin.service

    /// Returns the same request with another actor, for a rule that
    /// knows the actor more exactly than the caller.
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
