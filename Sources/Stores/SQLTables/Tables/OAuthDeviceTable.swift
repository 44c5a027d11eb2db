public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// Devices that wait for the consent of a user. A row belongs to no account: a consent deletes it, with the
/// address and the browser of the request.
public struct OAuthDeviceTable: Table {
    public static let name = "oauth_device"

    public let digest: Column<SHA256Digest>
    public let userCodeDigest: Column<SHA256Digest>
    public let oauthClientID: Column<OAuthClientID>
    public let scope: Column<String>
    public let address: Column<String>
    public let userAgent: Column<String>
    public let issuedAt: Column<Moment>
    public let expiresAt: Column<Moment>
    public let pollInterval: Column<Int64>
    public let polledAt: Column<Moment>
    public let deniedAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        digest = columns("digest", .secret, .required)
        userCodeDigest = columns("user_code_digest", .secret, .required)
        oauthClientID = columns("oauth_client", .operational, .required)
        scope = columns("scope", .operational, .required, .length(0...2048))
        address = columns(
            "address", .operational, .optional,
            .length(1...DeviceAuthorization.Origin.longestAddress))
        userAgent = columns(
            "user_agent", .operational, .optional,
            .length(1...DeviceAuthorization.Origin.longestUserAgent))
        issuedAt = columns("issued_at", .operational, .required)
        expiresAt = columns("expires_at", .operational, .required)
        pollInterval = columns(
            "poll_interval", .operational, .required, .range(1...DeviceAuthorization.longestInterval))
        polledAt = columns("polled_at", .operational, .optional)
        deniedAt = columns("denied_at", .operational, .optional)
    }
}

extension ColumnChoice where T == OAuthDeviceTable {
    /// Columns that polls and a refusal change.
    public static var progress: Self {
        only { [$0.address, $0.userAgent, $0.pollInterval, $0.polledAt, $0.deniedAt] }
    }
}

extension OAuthDeviceTable {
    @inlinable public func write(_ device: DeviceAuthorization, to row: some WritableRow) {
        row.set(digest, device.digest)
        row.set(userCodeDigest, device.userCodeDigest)
        row.set(oauthClientID, device.oauthClientID)
        row.set(scope, device.scope)
        row.set(address, device.origin.address)
        row.set(userAgent, device.origin.userAgent)
        row.set(issuedAt, device.issuedAt)
        row.set(expiresAt, device.expiresAt)
        row.set(pollInterval, device.interval)
        row.set(polledAt, device.polledAt)
        row.set(deniedAt, device.deniedAt)
    }

    @inlinable public func device(_ row: some ReadableRow) throws(StorageError) -> DeviceAuthorization {
        DeviceAuthorization(
            digest: try row.required(digest), userCodeDigest: try row.required(userCodeDigest),
            oauthClientID: try row.required(oauthClientID), scope: try row.required(scope),
            origin: DeviceAuthorization.Origin(address: row[address], userAgent: row[userAgent]),
            issuedAt: try row.required(issuedAt), expiresAt: try row.required(expiresAt),
            interval: try row.required(pollInterval), polledAt: row[polledAt], deniedAt: row[deniedAt])
    }
}
