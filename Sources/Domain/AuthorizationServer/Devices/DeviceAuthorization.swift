public import AppleAccounts
public import Cryptography

/// A device that waits for the consent of a user (RFC 8628 §3.2), as stored.
///
/// It belongs to no account. The consent replaces it by an authorization code with the
/// same digest (`CodeRecord`), to which all rules of codes then apply: single use, the
/// end of the credential, the erasure of the user.
public struct DeviceAuthorization: Sendable, Hashable {
    /// SHA-256 of the device code's text.
    public let digest: SHA256Digest
    public let userCodeDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    /// Requested scope, space-separated.
    public let scope: String
    /// The source of the request, for the consent page.
    public var origin: Origin
    public let issuedAt: Moment
    public let expiresAt: Moment
    /// Seconds that the device waits between two polls.
    public private(set) var interval: Int64
    public private(set) var polledAt: Moment?
    /// Time at which the user denied access.
    public private(set) var deniedAt: Moment?

    /// The known source of a device authorization request.
    public struct Origin: Sendable, Hashable {
        /// The IPv4 address, or the /64 network of an IPv6 address.
        public let address: String?
        /// The first characters of the field `User-Agent`.
        public let userAgent: String?

        /// Largest numbers of characters. The page shows no more.
        public static let longestAddress = 64
        public static let longestUserAgent = 160

        public init(address: String?, userAgent: String?) {
            self.address = address.map { String($0.prefix(Self.longestAddress)) }
            self.userAgent = userAgent.flatMap { text in
                let visible = text.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
                let kept = String(String.UnicodeScalarView(visible.prefix(Self.longestUserAgent)))
                return kept.isEmpty ? nil : kept
            }
        }

        public static let unknown = Origin(address: nil, userAgent: nil)
    }

    /// Milliseconds from the request to the expiry: ten minutes.
    public static let lifetime: Int64 = 600_000
    /// Milliseconds for which the row is stored after the expiry: twice the longest interval, so that each
    /// device that polls in time receives the error about the expiry.
    public static let keptAfterExpiry: Int64 = 120_000
    /// Seconds between two polls (RFC 8628 §3.5: 5).
    public static let firstInterval: Int64 = 5
    /// Seconds that each early poll adds (RFC 8628 §3.5).
    public static let intervalStep: Int64 = 5
    /// Seconds of the longest interval. Without it a faulty device
    /// would never receive its tokens after the consent.
    public static let longestInterval: Int64 = 60
    /// Milliseconds by which a poll may be early: the network delays some polls more than others.
    static let tolerance: Int64 = 500

    public init(
        digest: SHA256Digest, userCodeDigest: SHA256Digest, oauthClientID: OAuthClientID, scope: String,
        origin: Origin, issuedAt: Moment, expiresAt: Moment, interval: Int64 = Self.firstInterval,
        polledAt: Moment? = nil, deniedAt: Moment? = nil
    ) {
        self.digest = digest
        self.userCodeDigest = userCodeDigest
        self.oauthClientID = oauthClientID
        self.scope = scope
        self.origin = origin
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.interval = interval
        self.polledAt = polledAt
        self.deniedAt = deniedAt
    }

    /// Returns true if a user can still decide.
    public func isWaiting(at moment: Moment) -> Bool { deniedAt == nil && moment < expiresAt }

    /// Records a poll. Returns false when it came before the end of the interval, which then grows.
    mutating func notePoll(at moment: Moment) -> Bool {
        defer { polledAt = moment }
        guard let polledAt,
            // A clock that was set back must not make a poll early.
            (0..<interval * 1000 - Self.tolerance).contains(moment.milliseconds - polledAt.milliseconds)
        else { return true }
        interval = min(interval + Self.intervalStep, Self.longestInterval)
        return false
    }

    /// Records the denial. The source is not needed any more.
    mutating func deny(at moment: Moment) {
        deniedAt = moment
        origin = .unknown
    }
}

/// The largest numbers of stored device authorizations. Any party that
/// knows the ID of a public client can create them.
public struct DeviceLimits: Sendable, Hashable {
    /// Limit for one OAuth client.
    public let perClient: Int
    /// Limit for all clients together.
    public let total: Int

    public init(perClient: Int, total: Int) { (self.perClient, self.total) = (perClient, total) }

    public static let standard = DeviceLimits(perClient: 1000, total: 10_000)
}

/// Changes of device authorizations that a store must write at the end of
/// a transaction, in the order of their digests.
package struct DeviceChanges: Sendable, Equatable {
    package var removed: [SHA256Digest] = []
    /// New rows, and rows that replace the row of the same digest.
    package var devices: [DeviceAuthorization] = []
}

/// The device authorizations of one transaction: as loaded, and after the rules.
struct DeviceLedger: Sendable {
    private var loaded: [SHA256Digest: DeviceAuthorization] = [:]
    private var held: [SHA256Digest: DeviceAuthorization] = [:]
    private var userCodes: Set<SHA256Digest> = []
    private var counts: [OAuthClientID: Int] = [:]
    private var total = 0

    subscript(digest: SHA256Digest) -> DeviceAuthorization? { held[digest] }

    mutating func load(_ device: DeviceAuthorization) {
        loaded[device.digest] = device
        held[device.digest] = device
        userCodes.insert(device.userCodeDigest)
    }

    mutating func load(total: Int) { self.total = total }

    mutating func load(_ count: Int, of client: OAuthClientID) { counts[client] = count }

    /// Adds a new device authorization.
    mutating func insert(
        _ device: DeviceAuthorization, _ limits: DeviceLimits
    ) throws(GrantRefusal) {
        let count = counts[device.oauthClientID] ?? 0
        guard count < limits.perClient, total < limits.total else { throw GrantRefusal(.tooManyDevices) }
        guard userCodes.insert(device.userCodeDigest).inserted else { throw GrantRefusal(.userCodeTaken) }
        counts[device.oauthClientID] = count + 1
        total += 1
        held[device.digest] = device
    }

    /// Replaces the device authorization of the same digest.
    mutating func put(_ device: DeviceAuthorization) { held[device.digest] = device }

    mutating func remove(_ digest: SHA256Digest) { held[digest] = nil }

    var changes: DeviceChanges {
        var changes = DeviceChanges()
        changes.removed = loaded.keys.filter { held[$0] == nil }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        changes.devices = held.values.filter { loaded[$0.digest] != $0 }
            .sorted { $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes) }
        return changes
    }
}
