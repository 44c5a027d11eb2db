/// Something that whoever shows a one-time secret gets, once and before it expires.
public struct Ticket: Sendable, Hashable {
    /// The most bytes that a payload may have.
    public static let longestPayload = 4096

    public let digest: TicketDigest
    public let purpose: TicketPurpose
    /// Opaque here. Nothing that must stay secret may be in it unless it is sealed.
    public let payload: [UInt8]
    public let expiresAt: Moment

    public init(digest: TicketDigest, purpose: TicketPurpose, payload: [UInt8], expiresAt: Moment) {
        self.digest = digest
        self.purpose = purpose
        self.payload = payload
        self.expiresAt = expiresAt
    }
}
