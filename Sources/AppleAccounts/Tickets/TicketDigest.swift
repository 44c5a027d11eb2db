/// The SHA-256 digest of a one-time secret. The secret itself is never stored.
public struct TicketDigest: Sendable, Hashable {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// Returns `nil` unless there are 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}
