/// A fact for the audit log, before the store seals and numbers it.
public struct AuditEntry: Sendable, Hashable {
    public let facts: AuditFacts
    /// The account concerned, if there is one.
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

    /// Returns the entry without a way to its person.
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
    /// True if the user is erased: the row keeps a digest to which no salt is left.
    public let isErased: Bool

    public init(
        _ account: AccountID, tokenFamily: UniqueID? = nil, scope: String? = nil, isErased: Bool = false
    ) {
        (self.account, self.tokenFamily, self.isErased) = (account, tokenFamily, isErased)
        self.scope = scope.flatMap { AuditFacts.storable($0, AuditFacts.longestDetail) }
    }
}

/// The part of a row of the audit log that never changes and names no user. It has no token, no address, no
/// key, and no text that an outsider chose.
public struct AuditFacts: Sendable, Hashable {
    /// Most characters of the detail.
    public static let longestDetail = 500
    /// Most characters of the other texts.
    public static let longestName = 255

    /// By our clock.
    public let moment: Moment
    public let actor: AuditActor
    public let action: AuditAction
    public let outcome: AuditOutcome
    /// A word of the rules: of the end of a grant, or of a refusal.
    public let reason: String?
    public let oauthClient: OAuthClientID?
    public let requestID: String?
    public let detail: String?

    /// Shortens texts that a store would not accept: a fact must never be lost for its length.
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

    /// Databases count code points, and PostgreSQL has no U+0000.
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
