/// Where the one-time secrets of the web flow are kept, by their digests.
public protocol TicketStore: Sendable {
    /// Returns `false`, and changes nothing, when there is one of that digest and purpose.
    ///
    /// - Throws: `StorageError` `valueRefused` for a payload of more than `Ticket.longestPayload` bytes.
    func insertTicket(_ ticket: Ticket) async throws -> Bool

    /// Takes it away and returns its payload: of two callers at once, one gets it. Returns `nil` when there
    /// is none, or its time is over.
    func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]?

    /// Forgets those whose time was over at this moment, a bounded number at once. Returns how many.
    func purgeTickets(expiredBefore moment: Moment) async throws -> Int
}
