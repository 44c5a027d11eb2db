public import Cryptography

/// Stores the one-time secrets of the web flow, by their digests.
public protocol TicketStore: Sendable {
    /// Stores a ticket. Returns false, and changes nothing, when a ticket of this digest and purpose exists.
    ///
    /// - Throws: `StorageError` `valueRefused` for a payload of more than `Ticket.longestPayload` bytes.
    func insertTicket(_ ticket: Ticket) async throws -> Bool

    /// Removes a ticket and returns its payload: of two concurrent callers, only one gets it. Returns `nil`
    /// when the ticket does not exist, or has expired.
    func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]?

    /// Returns true if the ticket exists and has not expired. Does not remove it.
    func hasTicket(digest: TicketDigest, purpose: TicketPurpose, at moment: Moment) async throws -> Bool

    /// Deletes a bounded number of tickets that had expired at this
    /// moment. Returns the number of deleted tickets.
    func purgeTickets(expiredBefore moment: Moment) async throws -> Int
}

/// The data that a one-time secret gives access to, once and before it expires.
public struct Ticket: Sendable, Hashable {
    /// The largest number of bytes of a payload.
    public static let longestPayload = 4096

    public let digest: TicketDigest
    public let purpose: TicketPurpose
    /// The payload, opaque here. Secrets in it must be sealed.
    public let payload: [UInt8]
    public let expiresAt: Moment

    public init(digest: TicketDigest, purpose: TicketPurpose, payload: [UInt8], expiresAt: Moment) {
        self.digest = digest
        self.purpose = purpose
        self.payload = payload
        self.expiresAt = expiresAt
    }
}

/// The SHA-256 digest of a one-time secret. The secret itself is never stored.
public struct TicketDigest: Sendable, Hashable {
    public let digest: SHA256Digest

    public init(_ digest: SHA256Digest) {
        self.digest = digest
    }
}

/// Purpose of a one-time secret of the web flow. A secret of one purpose is never accepted for another.
public enum TicketPurpose: String, Sendable, Hashable, CaseIterable {
    /// The `state` that Apple returns.
    case webState = "web_state"
    /// Binds the return from Apple to the browser that began the flow.
    case webBrowser = "web_browser"
    /// The code that the backend exchanges for the result.
    case webResult = "web_result"
    /// A browser's session that has ended before its time. It is
    /// never removed early; it expires with the session.
    case endedSession = "ended_session"
}
