public import AppleAccounts
public import Cryptography

/// A verified security event token of Google.
public struct GoogleEventCommand: Sendable, Hashable {
    public let jti: String
    /// The whole token, stored for inspection.
    public let payload: [UInt8]
    public let events: [Event]
    /// The `state` of a verification event, which `siwa google risc verify` waits for; `nil` for other events.
    public let verificationState: String?
    public let receivedAt: Moment

    /// Milliseconds for which an event is stored: 30 days.
    public static let keptFor: Int64 = 2_592_000_000
    /// Size in bytes of the largest payload that a store accepts.
    public static let longestPayload = 65_536
    /// Size in bytes of the longest stored state of a verification.
    public static let longestState = 255

    /// One event of the token. Google sends one event in each token.
    public struct Event: Sendable, Hashable {
        public let kind: GoogleEventKind
        public let reason: GoogleEventReason?
        public let changes: [Change]

        public init(_ kind: GoogleEventKind, reason: GoogleEventReason? = nil, _ changes: [Change]) {
            (self.kind, self.reason, self.changes) = (kind, reason, changes)
        }
    }

    public enum Change: Sendable, Hashable {
        /// Sessions or all tokens of a Google account were revoked, or the account was
        /// hijacked. Ends the token families linked with it.
        ///
        /// - Parameter clients: The clients of the Google project that the event is about; `nil` when the
        ///   event is about the Google account as a whole.
        case endFamilies(googleSubject: String, upTo: Moment, of: Set<OAuthClientID>?)
        /// One refresh token of a client of the project, found by all 64 bytes of its double SHA-512.
        ///
        /// - Parameter googleSubject: The Google account of the token, if the event names it.
        case endToken(doubleSHA512: SHA512Digest, of: Set<OAuthClientID>, googleSubject: String? = nil)
        case disable(googleSubject: String, at: Moment)
        case enable(googleSubject: String, at: Moment)
        /// Changes nothing. The event names a Google account, so it counts as unmatched without a link to the
        /// account, and its content is deleted with the user's erasure.
        case name(googleSubject: String)
    }

    /// Origin for the audit log.
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

    /// The `sub` of the Google account that the event is about. A security event token has one subject (RFC
    /// 8417 §1.2), so the first subject among its changes applies to all of them.
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

/// The result of a security event token.
public struct GoogleEventReceipt: Sendable, Hashable {
    public enum Handling: String, Sendable, Hashable, CaseIterable {
        case applied
        case duplicate
    }

    public let handling: Handling
    /// The kinds of events that named no Google account and no token of a link here, in the order of the
    /// events. A verification names neither, and is never included.
    public let unmatched: [GoogleEventKind]

    public static let applied = GoogleEventReceipt(.applied)
    public static let duplicate = GoogleEventReceipt(.duplicate)

    /// Creates a receipt. Every event found its Google account or token, except events of these kinds.
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

    /// Creates the kind of an event URI; `other` for a URI that this version does not know.
    public init(uri: String) {
        self = Self.allCases.first { $0.uri == uri } ?? .other
    }

    /// The URI of the events (RISC 1.0 §2); `nil` for `other`.
    public var uri: String? {
        switch self {
        case .tokensRevoked, .tokenRevoked: Self.oauth + rawValue
        case .sessionsRevoked, .accountDisabled, .accountEnabled, .credentialChangeRequired, .verification:
            Self.risc + rawValue
        case .other: nil
        }
    }
}

/// Google's last statement about a Google account: enabled or disabled.
public struct GoogleAccountRecord: Sendable, Hashable {
    public let subject: String
    public let isDisabled: Bool
    /// Time of the statement, by Google's clock.
    public let moment: Moment

    public init(subject: String, isDisabled: Bool, moment: Moment) {
        (self.subject, self.isDisabled, self.moment) = (subject, isDisabled, moment)
    }

    /// Returns true if this statement stays when both have arrived, in either order. Google's times have
    /// whole seconds: of two events in the same second the enabling event stays, because Google enables
    /// only an account that it has disabled before.
    func isLater(than other: GoogleAccountRecord) -> Bool {
        (moment.milliseconds, isDisabled ? 0 : 1) > (other.moment.milliseconds, other.isDisabled ? 0 : 1)
    }
}

extension GrantWorkingSet {
    /// Applies a security event of Google, once for each `jti`. Events
    /// in any order of arrival leave the same state.
    mutating func apply(
        _ command: GoogleEventCommand, using generator: inout some RandomNumberGenerator
    ) -> GoogleEventReceipt {
        guard keep(command) else { return .duplicate }
        var unmatched: [GoogleEventKind] = []
        for event in command.events {
            // Checked before the changes, because they end the named tokens.
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
            // A late event does not end a link that was created after it.
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
            // A Google account that was learned just now can be disabled too.
            if let subject, isDisabled(googleSubject: subject) {
                endFamilies(of: nil, event, at: now, using: &generator) { $0.isLinked(with: subject) }
            }
        case .disable(let subject, let moment):
            update(with: GoogleAccountRecord(subject: subject, isDisabled: true, moment: moment))
            // Not if Google has enabled the account since. A token family can be younger than the event,
            // because delivery takes time, and no link of a disabled account is valid.
            guard isDisabled(googleSubject: subject) else { break }
            endFamilies(of: nil, event, at: now, using: &generator) { $0.isLinked(with: subject) }
        case .enable(let subject, let moment):
            update(with: GoogleAccountRecord(subject: subject, isDisabled: false, moment: moment))
        case .name: break
        }
    }

    /// Returns true if the event names a Google account or a token of a link here, even of a link that is too
    /// old or too young for the event. A verification names neither.
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
            // The links of a disabled account have ended, so only the statement remains.
            case .enable(let subject, _):
                hasStatement(about: subject) || hasFamily(of: nil) { $0.isLinked(with: subject) }
            }
        }
    }

    /// - Parameter clients: The clients; `nil` for all.
    private func hasFamily(of clients: Set<OAuthClientID>?, where isMeant: (TokenFamily) -> Bool) -> Bool {
        !grants(of: clients, where: isMeant).isEmpty
    }

    /// Ends token families, and no other families of their grants.
    ///
    /// - Parameter clients: The clients; `nil` for all.
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
