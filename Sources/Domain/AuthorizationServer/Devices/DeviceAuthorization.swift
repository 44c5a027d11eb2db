public import AppleAccounts
public import Cryptography

/// A stored device authorization: a device that is waiting for a user's consent (RFC 8628 §3.2).
///
/// It belongs to no account. The consent replaces it with an authorization code that has the same digest
/// (`CodeRecord`), so all rules for codes then apply: the code can be used once, and ends with its credential
/// or with the erasure of the user.
public struct DeviceAuthorization: Sendable, Hashable {
    /// SHA-256 of the device code's text.
    public let digest: SHA256Digest
    public let userCodeDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    /// Requested scope, space-separated.
    public let scope: String
    /// The request's source, as the consent page shows it.
    public var origin: Origin
    public let issuedAt: Moment
    public let expiresAt: Moment
    /// Seconds that the device must wait between two polls.
    public private(set) var interval: Int64
    public private(set) var polledAt: Moment?
    /// The time of the user's denial.
    public private(set) var deniedAt: Moment?

    /// The known source of a device authorization request.
    public struct Origin: Sendable, Hashable {
        /// The IPv4 address, or the /64 network of an IPv6 address.
        public let address: String?
        /// The beginning of the `User-Agent` header.
        public let userAgent: String?

        /// Maximum number of characters to store, because the page shows no more.
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

    /// Milliseconds from the request to its expiry: ten minutes.
    public static let lifetime: Int64 = 600_000
    /// Retention time of the row after its expiry, in milliseconds: twice the longest interval, so that any
    /// device that keeps polling learns that its code has expired.
    public static let keptAfterExpiry: Int64 = 120_000
    /// The initial polling interval in seconds (RFC 8628 §3.5: 5).
    public static let firstInterval: Int64 = 5
    /// Each early poll lengthens the interval by this many seconds (RFC 8628 §3.5).
    public static let intervalStep: Int64 = 5
    /// The longest polling interval in seconds. Without a limit, a faulty device would never receive its
    /// tokens, even after the consent.
    public static let longestInterval: Int64 = 60
    /// A poll may be early by this many milliseconds, because network delays vary from poll to poll.
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

    /// Returns true if a user can still decide about the device.
    public func isWaiting(at moment: Moment) -> Bool { deniedAt == nil && moment < expiresAt }

    /// Records a poll. If the poll comes too early, lengthens the interval and returns false.
    mutating func notePoll(at moment: Moment) -> Bool {
        defer { polledAt = moment }
        guard let polledAt,
            // If the clock was set back, the poll does not count as early.
            (0..<interval * 1000 - Self.tolerance).contains(moment.milliseconds - polledAt.milliseconds)
        else { return true }
        interval = min(interval + Self.intervalStep, Self.longestInterval)
        return false
    }

    /// Records the denial, and removes the source, which pages no longer show.
    mutating func deny(at moment: Moment) {
        deniedAt = moment
        origin = .unknown
    }
}

/// Limits on stored device authorizations. They are needed because anyone who knows a public client's ID can
/// create device authorizations.
public struct DeviceLimits: Sendable, Hashable {
    /// Limit per OAuth client.
    public let perClient: Int
    /// Limit for all clients together.
    public let total: Int

    public init(perClient: Int, total: Int) { (self.perClient, self.total) = (perClient, total) }

    public static let standard = DeviceLimits(perClient: 1000, total: 10_000)
}

/// Changes to device authorizations that a store must write at the end of a transaction, sorted by digest.
package struct DeviceChanges: Sendable, Equatable {
    package var removed: [SHA256Digest] = []
    /// New rows, and rows that replace the row with the same digest.
    package var devices: [DeviceAuthorization] = []
}

/// A transaction's device authorizations, before and after the rules were applied.
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

    /// Replaces the device authorization with the same digest.
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
