public import AppleAccounts
public import Cryptography

/// Reads grants and codes for operators. No decision about a token depends on it.
public protocol GrantInspectionStore: Sendable {
    /// Returns the code with this digest, even after its redemption or expiry; `nil` when there is none.
    func code(withDigest digest: SHA256Digest) async throws -> CodeRecord?

    /// Returns the device authorization with this digest of its device code; `nil` when there is none, or when
    /// the user has agreed.
    func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization?

    /// Counts grants and token families by client, at most this many rows of each. The count covers
    /// all rows or a sample, as `ClientUsage` states.
    func clientUsage(lookingAt most: Int) async throws -> ClientUsage

    /// Returns Google's security events, the newest first, and events of the same millisecond by their `jti`.
    ///
    /// - Parameter position: Position of the last event of the previous page; `nil` for the newest event.
    func googleEvents(before position: GoogleEventPosition?, limit: Int) async throws -> [ReceivedGoogleEvent]
}

/// A position among Google's security events. Several can have arrived in one millisecond.
public struct GoogleEventPosition: Sendable, Hashable {
    public let receivedAt: Moment
    public let jti: String

    public init(receivedAt: Moment, jti: String) {
        (self.receivedAt, self.jti) = (receivedAt, jti)
    }

    /// The position before the newest event.
    public static let newest = GoogleEventPosition(receivedAt: .last, jti: "")
}

/// The number of grants and token families of each client.
public struct ClientUsage: Sendable, Hashable {
    public let grants: [OAuthClientID: Int]
    public let families: [OAuthClientID: Int]
    /// True if the database has more grants than were counted.
    public let isSampleOfGrants: Bool
    public let isSampleOfFamilies: Bool

    public init(grants: [OAuthClientID: Int], families: [OAuthClientID: Int], lookedAt most: Int) {
        (self.grants, self.families) = (grants, families)
        isSampleOfGrants = grants.values.reduce(0, +) >= most
        isSampleOfFamilies = families.values.reduce(0, +) >= most
    }
}

/// A security event of Google's, as it was verified and stored.
public struct ReceivedGoogleEvent: Sendable, Hashable {
    public let jti: String
    /// The token; empty when it is about an erased user.
    public let payload: [UInt8]
    public let receivedAt: Moment

    public var position: GoogleEventPosition { GoogleEventPosition(receivedAt: receivedAt, jti: jti) }

    public init(jti: String, payload: [UInt8], receivedAt: Moment) {
        (self.jti, self.payload, self.receivedAt) = (jti, payload, receivedAt)
    }
}
