/// A secret of Apple's (a refresh token, an authorization code) as it was sealed. This module cannot open it
/// and never sees what is in it.
public struct SealedSecret: Sendable, Hashable {
    /// 1 to 16384 bytes.
    public let bytes: [UInt8]

    /// Returns `nil` when there are no bytes, or more than 16384.
    public init?(_ bytes: [UInt8]) {
        guard (1...16384).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

extension SealedSecret: CustomStringConvertible {
    /// Without the bytes: sealed or not, they belong into no log.
    public var description: String { "sealed secret of \(bytes.count) bytes" }
}
