/// Stores the one-time secrets of the web flow, by their digests.
public protocol TicketStore: Sendable {
    /// Returns `false`, and changes nothing, when a ticket of this digest and purpose exists.
    ///
    /// - Throws: `StorageError` `valueRefused` for a payload of more than `Ticket.longestPayload` bytes.
    func insertTicket(_ ticket: Ticket) async throws -> Bool

    /// Removes a ticket and returns its payload: of two concurrent callers, only one gets it. Returns `nil`
    /// when there is no such ticket, or it has expired.
    func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]?

    /// Returns `true` if there is such a ticket, and it has not expired. Takes nothing.
    func hasTicket(digest: TicketDigest, purpose: TicketPurpose, at moment: Moment) async throws -> Bool

    /// Deletes tickets that had expired at this moment, a bounded number per call. Returns the number of
    /// deleted tickets.
    func purgeTickets(expiredBefore moment: Moment) async throws -> Int
}
