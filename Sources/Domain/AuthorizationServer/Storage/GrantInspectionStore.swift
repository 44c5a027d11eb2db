public import AppleAccounts
public import Cryptography

/// Reads grants and codes for operators. No decision about tokens depends on these functions.
public protocol GrantInspectionStore: Sendable {
    /// Returns the code with this digest, even if it was redeemed or has expired. Returns `nil` if there is
    /// none.
    func code(withDigest digest: SHA256Digest) async throws -> CodeRecord?

    /// Returns the device authorization whose device code has this digest. Returns `nil` if there is none, or
    /// if the user has agreed.
    func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization?

    /// Counts grants and token families by client, reading at most `most` rows of each. `ClientUsage` states
    /// whether the counts cover all rows or only a sample.
    func clientUsage(lookingAt most: Int) async throws -> ClientUsage

    /// Returns Google's security events, newest first. Events from the same millisecond are ordered by `jti`.
    ///
    /// - Parameter position: The position of the previous page's last event. `nil` for the newest event.
    func googleEvents(before position: GoogleEventPosition?, limit: Int) async throws -> [ReceivedGoogleEvent]
}

/// A position in the list of Google's security events. Several events can share the same arrival time.
public struct GoogleEventPosition: Sendable, Hashable {
    public let receivedAt: Moment
    public let jti: String

    public init(receivedAt: Moment, jti: String) {
        (self.receivedAt, self.jti) = (receivedAt, jti)
    }

    /// The position just before the newest event.
    public static let newest = GoogleEventPosition(receivedAt: .last, jti: "")
}

/// The number of grants and token families per client.
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

/// A security event from Google, verified and stored.
public struct ReceivedGoogleEvent: Sendable, Hashable {
    public let jti: String
    /// The token. Empty if the event is about an erased user.
    public let payload: [UInt8]
    public let receivedAt: Moment

    public var position: GoogleEventPosition { GoogleEventPosition(receivedAt: receivedAt, jti: jti) }

    public init(jti: String, payload: [UInt8], receivedAt: Moment) {
        (self.jti, self.payload, self.receivedAt) = (jti, payload, receivedAt)
    }
}
