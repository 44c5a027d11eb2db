public import AppleAccounts
public import Cryptography

/// Applies a verified security event token from Google.
public struct GoogleEventCommand: Sendable, Hashable {
    public let jti: String
    /// The complete token, kept for inspection.
    public let payload: [UInt8]
    public let events: [Event]
    /// The `state` of a verification event, which `siwa google risc verify` waits for. `nil` for other
    /// events.
    public let verificationState: String?
    public let receivedAt: Moment

    /// Retention time of an event, in milliseconds: 30 days.
    public static let keptFor: Int64 = 2_592_000_000
    /// Maximum size of an accepted payload in bytes.
    public static let longestPayload = 65_536
    /// Maximum size of a verification `state` in bytes.
    public static let longestState = 255

    /// An event in the token. Google sends one event per token.
    public struct Event: Sendable, Hashable {
        public let kind: GoogleEventKind
        public let reason: GoogleEventReason?
        public let changes: [Change]

        public init(_ kind: GoogleEventKind, reason: GoogleEventReason? = nil, _ changes: [Change]) {
            (self.kind, self.reason, self.changes) = (kind, reason, changes)
        }
    }

    public enum Change: Sendable, Hashable {
        /// Google has revoked sessions or all tokens of a Google account, or the account was hijacked, so the
        /// token families linked with it end.
        ///
        /// - Parameter clients: The clients of the Google project that the event is about. `nil` if the event is
        ///   about the whole Google account.
        case endFamilies(googleSubject: String, upTo: Moment, of: Set<OAuthClientID>?)
        /// Google has revoked a refresh token that belongs to a client of the project. The token is
        /// identified by all 64 bytes of its double SHA-512.
        ///
        /// - Parameter googleSubject: The token's Google account. `nil` if the event does not name it.
        case endToken(doubleSHA512: SHA512Digest, of: Set<OAuthClientID>, googleSubject: String? = nil)
        case disable(googleSubject: String, at: Moment)
        case enable(googleSubject: String, at: Moment)
        /// An event that names a Google account but changes nothing. Without a link to that account it counts
        /// as unmatched, and its content is deleted when the user is erased.
        case name(googleSubject: String)
    }

    /// The command's origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        jti: String, payload: [UInt8], events: [Event], verificationState: String? = nil, receivedAt: Moment,
        origin: AuditOrigin = .current
    ) {
        self.jti = jti
        self.payload = payload
        self.events = events
        self.verificationState = verificationState
        self.receivedAt = receivedAt
        self.origin = origin
    }
}

extension GoogleEventCommand {
    var changes: [Change] { events.flatMap(\.changes) }

    /// The `sub` of the Google account that the event is about. A security event token has only one subject
    /// (RFC 8417 §1.2), so the first `sub` in the changes applies to all changes.
    public var googleSubject: String? { changes.lazy.compactMap(\.googleSubject).first }
}

extension GoogleEventCommand.Event {
    var reference: GoogleEventReference { GoogleEventReference(kind: kind, reason: reason) }
}

extension GoogleEventCommand.Change {
    var googleSubject: String? {
        switch self {
        case .endFamilies(let subject, _, _), .disable(let subject, _), .enable(let subject, _),
            .name(let subject):
            subject
        case .endToken(_, _, let subject): subject
        }
    }
}

/// The result of applying a security event token.
public struct GoogleEventReceipt: Sendable, Hashable {
    public enum Handling: String, Sendable, Hashable, CaseIterable {
        case applied
        case duplicate
    }

    public let handling: Handling
    /// The kinds of events that matched neither a linked Google account nor a token, in event order. Never
    /// contains verification events, which by definition name neither.
    public let unmatched: [GoogleEventKind]

    public static let applied = GoogleEventReceipt(.applied)
    public static let duplicate = GoogleEventReceipt(.duplicate)

    /// Returns the receipt for a token that was applied. `unmatched` lists the kinds of its events that
    /// matched no Google account and no token.
    public static func applied(unmatched: GoogleEventKind...) -> GoogleEventReceipt {
        GoogleEventReceipt(.applied, unmatched: unmatched)
    }

    init(_ handling: Handling, unmatched: [GoogleEventKind] = []) {
        (self.handling, self.unmatched) = (handling, unmatched)
    }
}

extension GoogleEventKind {
    private static let risc = "https://schemas.openid.net/secevent/risc/event-type/"
    private static let oauth = "https://schemas.openid.net/secevent/oauth/event-type/"

    /// Creates the kind for an event URI. Unknown URIs yield `other`.
    public init(uri: String) {
        self = Self.allCases.first { $0.uri == uri } ?? .other
    }

    /// The event URI of this kind (RISC 1.0 §2). `nil` for `other`.
    public var uri: String? {
        switch self {
        case .tokensRevoked, .tokenRevoked: Self.oauth + rawValue
        case .sessionsRevoked, .accountDisabled, .accountEnabled, .credentialChangeRequired, .verification:
            Self.risc + rawValue
        case .other: nil
        }
    }
}

/// Google's last statement about a Google account: that it is enabled or disabled.
public struct GoogleAccountRecord: Sendable, Hashable {
    public let subject: String
    public let isDisabled: Bool
    /// The statement's time, by Google's clock.
    public let moment: Moment

    public init(subject: String, isDisabled: Bool, moment: Moment) {
        (self.subject, self.isDisabled, self.moment) = (subject, isDisabled, moment)
    }

    /// Returns true if this statement overrides the other, regardless of the order of arrival. Google's times
    /// are whole seconds. Within the same second, the enabling event wins, because Google only enables accounts
    /// that it has disabled before.
    func isLater(than other: GoogleAccountRecord) -> Bool {
        (moment.milliseconds, isDisabled ? 0 : 1) > (other.moment.milliseconds, other.isDisabled ? 0 : 1)
    }
}

extension GrantWorkingSet {
    /// Applies a Google security event, once per `jti`. The final state does not depend on the order in which
    /// events arrive.
    mutating func apply(
        _ command: GoogleEventCommand, using generator: inout some RandomNumberGenerator
    ) -> GoogleEventReceipt {
        guard keep(command) else { return .duplicate }
        var unmatched: [GoogleEventKind] = []
        for event in command.events {
            // This check runs before the changes, because they end the tokens that the event names.
            if !isMatched(event) { unmatched.append(event.kind) }
            for change in event.changes {
                apply(change, event.reference, at: command.receivedAt, using: &generator)
            }
        }
        return GoogleEventReceipt(.applied, unmatched: unmatched)
    }

    private mutating func apply(
        _ change: GoogleEventCommand.Change, _ event: GoogleEventReference, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        switch change {
        case .endFamilies(let subject, let moment, let clients):
            // A late event must not end a link that was created after it.
            endFamilies(of: clients, event, at: now, using: &generator) {
                $0.isLinked(with: subject) && $0.linkedAt <= moment
            }
        case .endToken(let digest, let clients, let subject):
            if let subject {
                for grant in grants(of: clients, where: { $0.refreshToken?.doubleSHA512 == digest }) {
                    learn(googleSubject: subject, of: grant.id)
                }
            }
            endFamilies(of: clients, event, at: now, using: &generator) {
                $0.refreshToken?.doubleSHA512 == digest
            }
            // This event may be the first to show that the token belongs to a disabled Google account.
            if let subject, isDisabled(googleSubject: subject) {
                endFamilies(of: nil, event, at: now, using: &generator) { $0.isLinked(with: subject) }
            }
        case .disable(let subject, let moment):
            update(with: GoogleAccountRecord(subject: subject, isDisabled: true, moment: moment))
            // The families are kept if Google has enabled the account again since then. Their age does not
            // matter, because even the newest link of a disabled account is not valid.
            guard isDisabled(googleSubject: subject) else { break }
            endFamilies(of: nil, event, at: now, using: &generator) { $0.isLinked(with: subject) }
        case .enable(let subject, let moment):
            update(with: GoogleAccountRecord(subject: subject, isDisabled: false, moment: moment))
        case .name: break
        }
    }

    /// Returns true if the event names a Google account or the token of an existing link, even if the link is
    /// too old or too new for the event. Always true for verification events, which name neither.
    private func isMatched(_ event: GoogleEventCommand.Event) -> Bool {
        guard event.kind != .verification else { return true }
        return event.changes.contains { change in
            switch change {
            case .endFamilies(let subject, _, let clients):
                hasFamily(of: clients) { $0.isLinked(with: subject) }
            case .endToken(let digest, let clients, _):
                hasFamily(of: clients) { $0.refreshToken?.doubleSHA512 == digest }
            case .disable(let subject, _), .name(let subject):
                hasFamily(of: nil) { $0.isLinked(with: subject) }
            // The disabled account's links have ended, so only the statement about it is left.
            case .enable(let subject, _):
                hasStatement(about: subject) || hasFamily(of: nil) { $0.isLinked(with: subject) }
            }
        }
    }

    /// - Parameter clients: The clients. `nil` for all clients.
    private func hasFamily(of clients: Set<OAuthClientID>?, where isMeant: (TokenFamily) -> Bool) -> Bool {
        !grants(of: clients, where: isMeant).isEmpty
    }

    /// Ends token families, and keeps the other families of their grants.
    ///
    /// - Parameter clients: The clients. `nil` for all clients.
    private mutating func endFamilies(
        of clients: Set<OAuthClientID>?, _ event: GoogleEventReference, at now: Moment,
        using generator: inout some RandomNumberGenerator, where isMeant: (TokenFamily) -> Bool
    ) {
        for grant in grants(of: clients, where: isMeant) {
            endFamilies(
                of: grant, reason: .googleRevoked, googleEvent: event, at: now, using: &generator,
                where: isMeant)
        }
    }

    private func grants(
        of clients: Set<OAuthClientID>?, where isMeant: (TokenFamily) -> Bool
    ) -> [GrantRecord] {
        ledger.all { grant in
            (clients?.contains(grant.record.oauthClientID) ?? true) && grant.families.contains(where: isMeant)
        }.map(\.record)
    }
}
