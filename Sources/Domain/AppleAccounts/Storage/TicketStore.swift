public import Cryptography

/// Stores tickets for the web flow's one-time secrets, by the digest of the secret.
public protocol TicketStore: Sendable {
    /// Stores a ticket. Returns false, and changes nothing, if a ticket with this digest and purpose exists.
    ///
    /// - Throws: `StorageError` `valueRefused` if the payload exceeds `Ticket.longestPayload` bytes.
    func insertTicket(_ ticket: Ticket) async throws -> Bool

    /// Removes a ticket and returns its payload; of two concurrent callers, only one gets it. Returns `nil`
    /// if the ticket does not exist or has expired.
    func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]?

    /// Returns true if the ticket exists and has not expired. Does not remove it.
    func hasTicket(digest: TicketDigest, purpose: TicketPurpose, at moment: Moment) async throws -> Bool

    /// Deletes a limited number of tickets that have expired
    /// by this moment. Returns the number of deleted tickets.
    func purgeTickets(expiredBefore moment: Moment) async throws -> Int
}

/// Data that a one-time secret gives access to, once and only before it expires.
public struct Ticket: Sendable, Hashable {
    /// Maximum size of a payload, in bytes.
    public static let longestPayload = 4096

    public let digest: TicketDigest
    public let purpose: TicketPurpose
    /// The payload, which is opaque to the store. The caller must seal any secrets in it.
    public let payload: [UInt8]
    public let expiresAt: Moment

    public init(digest: TicketDigest, purpose: TicketPurpose, payload: [UInt8], expiresAt: Moment) {
        self.digest = digest
        self.purpose = purpose
        self.payload = payload
        self.expiresAt = expiresAt
    }
}

/// SHA-256 digest of a one-time secret. The service never stores the secret itself.
public struct TicketDigest: Sendable, Hashable {
    public let digest: SHA256Digest

    public init(_ digest: SHA256Digest) {
        self.digest = digest
    }
}

/// Purpose of a one-time secret in the web flow. A secret is never accepted for another purpose.
public enum TicketPurpose: String, Sendable, Hashable, CaseIterable {
    /// The `state` that Apple returns.
    case webState = "web_state"
    /// Ties Apple's redirect to the browser that began the flow.
    case webBrowser = "web_browser"
    /// The code that the backend exchanges for the result.
    case webResult = "web_result"
    /// A browser session that ended before it expired. The store never removes the ticket early; it expires
    /// together with the session.
    case endedSession = "ended_session"
}
