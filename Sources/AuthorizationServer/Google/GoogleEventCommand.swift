public import AppleAccounts
public import Cryptography

/// A verified security event token of Google's.
public struct GoogleEventCommand: Sendable, Hashable {
    public let jti: String
    /// The whole token, kept for inspection.
    public let payload: [UInt8]
    public let changes: [Change]
    public let receivedAt: Moment

    /// For how long an event is kept, in milliseconds: 30 days.
    public static let keptFor: Int64 = 2_592_000_000
    /// The longest payload that a store takes, in bytes.
    public static let longestPayload = 65_536

    public enum Change: Sendable, Hashable {
        /// Sessions or all tokens of a Google account were revoked, or it was hijacked: ends what came with
        /// it.
        ///
        /// - Parameter clients: Those of the Google project that the event is about; `nil` when it is about
        ///   the Google account as a whole.
        case endLines(googleSubject: String, upTo: Moment, of: Set<OAuthClientID>?)
        /// One refresh token, found by all 64 bytes of its double SHA-512, of a client of the project.
        case endToken(doubleSHA512: SHA512Digest, of: Set<OAuthClientID>)
        case disable(googleSubject: String, at: Moment)
        case enable(googleSubject: String, at: Moment)
        /// Kept, and nothing more.
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
    /// The `sub` of the Google account that it is about. A security event token has one subject (RFC 8417
    /// §1.2), so the first that one of its changes names is that of all.
    public var googleSubject: String? { changes.lazy.compactMap(\.googleSubject).first }
}

extension GoogleEventCommand.Change {
    var googleSubject: String? {
        switch self {
        case .endLines(let subject, _, _), .disable(let subject, _), .enable(let subject, _): subject
        case .endToken, .other: nil
        }
    }
}
