public import AppleAccounts
public import Cryptography

/// A verified security event token of Google.
public struct GoogleEventCommand: Sendable, Hashable {
    public let jti: String
    /// The whole token, kept for inspection.
    public let payload: [UInt8]
    public let changes: [Change]
    public let receivedAt: Moment

    /// Milliseconds for which an event is kept: 30 days.
    public static let keptFor: Int64 = 2_592_000_000
    /// Size in bytes of the largest payload that a store accepts.
    public static let longestPayload = 65_536

    public enum Change: Sendable, Hashable {
        /// Sessions or all tokens of a Google account were revoked, or the account was hijacked: ends the
        /// token families linked with it.
        ///
        /// - Parameter clients: The clients of the Google project that the event is about; `nil` when the
        ///   event is about the Google account as a whole.
        case endFamilies(googleSubject: String, upTo: Moment, of: Set<OAuthClientID>?)
        /// One refresh token, found by all 64 bytes of its double SHA-512, of a client of the project.
        case endToken(doubleSHA512: SHA512Digest, of: Set<OAuthClientID>)
        case disable(googleSubject: String, at: Moment)
        case enable(googleSubject: String, at: Moment)
        /// Stored without any other effect.
        case other(type: String)
    }

    public init(jti: String, payload: [UInt8], changes: [Change], receivedAt: Moment) {
        self.jti = jti
        self.payload = payload
        self.changes = changes
        self.receivedAt = receivedAt
    }
}

extension GoogleEventCommand {
    /// The `sub` of the Google account that the event is about. A security event token has one subject (RFC
    /// 8417 §1.2), so the first subject among its changes holds for all of them.
    public var googleSubject: String? { changes.lazy.compactMap(\.googleSubject).first }
}

extension GoogleEventCommand.Change {
    var googleSubject: String? {
        switch self {
        case .endFamilies(let subject, _, _), .disable(let subject, _), .enable(let subject, _): subject
        case .endToken, .other: nil
        }
    }
}
