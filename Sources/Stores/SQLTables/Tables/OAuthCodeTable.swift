public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// Authorization codes of this service, by their digests. The grant has the account and the OAuth client.
public struct OAuthCodeTable: Table {
    public static let name = "oauth_code"

    public let digest: Column<SHA256Digest>
    public let grantID: Column<GrantID>
    public let redirectURI: Column<String>
    public let challenge: Column<String>
    public let challengeIsPlain: Column<Bool>
    public let scope: Column<String>
    public let nonce: Column<String>
    public let authenticatedAt: Column<Moment>
    public let authorizedAt: Column<Moment>
    public let issuedAt: Column<Moment>
    public let expiresAt: Column<Moment>
    public let redeemedAt: Column<Moment>
    public let familyID: Column<UniqueID>

    public init(_ columns: inout ColumnList) {
        digest = columns("digest", .secret, .required)
        grantID = columns("grant_id", .operational, .required)
        redirectURI = columns("redirect_uri", .operational, .required, .length(1...2048))
        challenge = columns("challenge", .secret, .optional, .length(1...128))
        challengeIsPlain = columns("challenge_is_plain", .operational, .optional)
        scope = columns("scope", .personal, .required, .length(0...2048))
        nonce = columns("nonce", .secret, .optional, .length(0...2048))
        authenticatedAt = columns("authenticated_at", .personal, .required)
        authorizedAt = columns("authorized_at", .personal, .required)
        issuedAt = columns("issued_at", .personal, .required)
        expiresAt = columns("expires_at", .operational, .required)
        redeemedAt = columns("redeemed_at", .personal, .optional)
        familyID = columns("family_id", .operational, .optional)
    }
}

extension ColumnChoice where T == OAuthCodeTable {
    /// Columns that a redemption changes.
    public static var redemption: Self { only { [$0.redeemedAt, $0.familyID] } }
}

extension OAuthCodeTable {
    @inlinable public func write(_ code: CodeRecord, to row: some WritableRow) {
        row.set(digest, code.digest)
        row.set(grantID, code.grantID)
        row.set(redirectURI, code.redirectURI)
        row.set(challenge, code.challenge?.text)
        row.set(challengeIsPlain, code.challenge?.isPlain)
        row.set(scope, code.scope)
        row.set(nonce, code.nonce)
        row.set(authenticatedAt, code.authenticatedAt)
        row.set(authorizedAt, code.authorizedAt)
        row.set(issuedAt, code.issuedAt)
        row.set(expiresAt, code.expiresAt)
        row.set(redeemedAt, code.redemption?.moment)
        row.set(familyID, code.redemption?.familyID)
    }

    @inlinable public func code(
        _ row: some ReadableRow, of account: AccountID, client: OAuthClientID
    ) throws(StorageError) -> CodeRecord {
        var challenge: CodeRecord.StoredChallenge?
        if let text = row[self.challenge] {
            challenge = CodeRecord.StoredChallenge(text: text, isPlain: try row.required(challengeIsPlain))
        }
        var redemption: CodeRecord.Redemption?
        if let moment = row[redeemedAt] {
            redemption = CodeRecord.Redemption(moment: moment, familyID: try row.required(familyID))
        }
        return CodeRecord(
            digest: try row.required(digest), grantID: try row.required(grantID), accountID: account,
            oauthClientID: client, redirectURI: try row.required(redirectURI), challenge: challenge,
            scope: try row.required(scope), nonce: row[nonce],
            authenticatedAt: try row.required(authenticatedAt),
            authorizedAt: try row.required(authorizedAt), issuedAt: try row.required(issuedAt),
            expiresAt: try row.required(expiresAt), redemption: redemption)
    }
}

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
