/// A sealed secret of Apple's (a refresh token or an authorization code). This module can neither seal nor
/// open it.
public struct SealedSecret: Sendable, Hashable {
    public static let longest = 16384

    /// 1 to `longest` bytes.
    public let bytes: [UInt8]

    /// Returns `nil` when there are no bytes, or more than `longest`.
    public init?(_ bytes: [UInt8]) {
        guard (1...Self.longest).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

extension SealedSecret: CustomStringConvertible {
    /// Without the bytes: sealed or not, they must not reach a log.
    public var description: String { "sealed secret of \(bytes.count) bytes" }
}

/// Kind of a sealed secret. The raw values are part of the authenticated data and never change.
public enum SealedPurpose: String, Sendable, Hashable, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
}
