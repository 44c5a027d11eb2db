public import AppleAccounts
public import Cryptography

/// A verified security event token of Google.
public struct GoogleEventCommand: Sendable, Hashable {
    public let jti: String
    /// The whole token, kept for inspection.
    public let payload: [UInt8]
    public let events: [Event]
    /// The `state` of a verification event, which `siwa google risc verify` waits for; `nil` for other events.
    public let verificationState: String?
    public let receivedAt: Moment

    /// Milliseconds for which an event is kept: 30 days.
    public static let keptFor: Int64 = 2_592_000_000
    /// Size in bytes of the largest payload that a store accepts.
    public static let longestPayload = 65_536
    /// Size in bytes of the longest state of a verification that is kept.
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
        /// Sessions or all tokens of a Google account were revoked, or the account was hijacked: ends the
        /// token families linked with it.
        ///
        /// - Parameter clients: The clients of the Google project that the event is about; `nil` when the
        ///   event is about the Google account as a whole.
        case endFamilies(googleSubject: String, upTo: Moment, of: Set<OAuthClientID>?)
        /// One refresh token, found by all 64 bytes of its double SHA-512, of a client of the project.
        ///
        /// - Parameter googleSubject: The Google account of the token, if the event names it.
        case endToken(doubleSHA512: SHA512Digest, of: Set<OAuthClientID>, googleSubject: String? = nil)
        case disable(googleSubject: String, at: Moment)
        case enable(googleSubject: String, at: Moment)
        /// Changes nothing. The event names a Google account, so it is counted when no link belongs to it,
        /// and its content goes with the user's erasure.
        case name(googleSubject: String)
    }

    /// For the audit log.
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
    /// 8417 §1.2), so the first subject among its changes holds for all of them.
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
    /// events. A verification names nothing, and is never among them.
    public let unmatched: [GoogleEventKind]

    public static let applied = GoogleEventReceipt(.applied)
    public static let duplicate = GoogleEventReceipt(.duplicate)

    /// Every event found what it names, except events of these kinds.
    public static func applied(unmatched: GoogleEventKind...) -> GoogleEventReceipt {
        GoogleEventReceipt(.applied, unmatched: unmatched)
    }

    init(_ handling: Handling, unmatched: [GoogleEventKind] = []) {
        (self.handling, self.unmatched) = (handling, unmatched)
    }
}
