public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// The table of this service's authorization codes, by digest. The account and the OAuth client are in the
/// grant.
public typealias OAuthCodeTable = RecordTable<CodeRecord>

extension CodeRecord: StoredRecord {
    public typealias Given = (accountID: AccountID, oauthClientID: OAuthClientID)

    public static var table: String { "oauth_code" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let digest = try column("digest", .secret, \.digest)
        let grantID = try column("grant_id", .operational, \.grantID)
        let redirectURI = try column("redirect_uri", .operational, \.redirectURI, .length(1...2048))
        let text = try column.part("challenge", .secret, .length(1...128)) { $0.challenge?.text }
        let isPlain = try column.part("challenge_is_plain", .operational) { $0.challenge?.isPlain }
        var challenge: CodeRecord.StoredChallenge?
        if let text {
            challenge = .init(text: text, isPlain: try column.required(isPlain, "challenge_is_plain"))
        }
        let scope = try column("scope", .personal, \.scope, .length(0...2048))
        let nonce = try column("nonce", .secret, \.nonce, .length(0...2048))
        let authenticatedAt = try column("authenticated_at", .personal, \.authenticatedAt)
        let authorizedAt = try column("authorized_at", .personal, \.authorizedAt)
        let issuedAt = try column("issued_at", .personal, \.issuedAt)
        let expiresAt = try column("expires_at", .operational, \.expiresAt)
        let redeemedAt = try column.part("redeemed_at", .personal) { $0.redemption?.moment }
        let familyID = try column.part("family_id", .operational) { $0.redemption?.familyID }
        var redemption: CodeRecord.Redemption?
        if let redeemedAt {
            redemption = .init(moment: redeemedAt, familyID: try column.required(familyID, "family_id"))
        }
        return CodeRecord(
            digest: digest, grantID: grantID, accountID: column.given { $0.accountID },
            oauthClientID: column.given { $0.oauthClientID }, redirectURI: redirectURI, challenge: challenge,
            scope: scope, nonce: nonce, authenticatedAt: authenticatedAt, authorizedAt: authorizedAt,
            issuedAt: issuedAt, expiresAt: expiresAt, redemption: redemption)
    }
}

/// The columns of a code and its grant. The tables have the aliases `c` and `g`.
public struct OAuthCodeColumns: Sendable {
    @usableFromInline let table: OAuthCodeTable
    @usableFromInline let account: Column<AccountID>
    @usableFromInline let client: Column<OAuthClientID>

    public init(_ list: inout SelectList) {
        table = list.add(OAuthCodeTable.self, as: "c")
        account = list.add("g.account_id", AccountID.self, as: "account_id")
        client = list.add("g.oauth_client", OAuthClientID.self, as: "oauth_client")
    }

    @inlinable
    public func record(_ row: some ReadableRow) throws(StorageError) -> CodeRecord {
        try table.record(row, (row.required(account), row.required(client)))
    }
}

extension ColumnChoice where T == OAuthCodeTable {
    /// The columns that a redemption changes.
    public static var redemption: Self {
        only { [$0["redeemed_at", Moment.self], $0["family_id", UniqueID.self]] }
    }
}

/// The table of devices that wait for a user's consent. A row belongs to no account: consent deletes it
/// together with the address and browser of the request.
public typealias OAuthDeviceTable = RecordTable<DeviceAuthorization>

extension DeviceAuthorization: StoredRecord {
    public static var table: String { "oauth_device" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        DeviceAuthorization(
            digest: try column("digest", .secret, \.digest),
            userCodeDigest: try column("user_code_digest", .secret, \.userCodeDigest),
            oauthClientID: try column("oauth_client", .operational, \.oauthClientID),
            scope: try column("scope", .operational, \.scope, .length(0...2048)),
            origin: DeviceAuthorization.Origin(
                address: try column(
                    "address", .operational, \.origin.address,
                    .length(1...DeviceAuthorization.Origin.longestAddress)),
                userAgent: try column(
                    "user_agent", .operational, \.origin.userAgent,
                    .length(1...DeviceAuthorization.Origin.longestUserAgent))),
            issuedAt: try column("issued_at", .operational, \.issuedAt),
            expiresAt: try column("expires_at", .operational, \.expiresAt),
            interval: try column(
                "poll_interval", .operational, \.interval, .range(1...DeviceAuthorization.longestInterval)),
            polledAt: try column("polled_at", .operational, \.polledAt),
            deniedAt: try column("denied_at", .operational, \.deniedAt))
    }
}

extension ColumnChoice where T == OAuthDeviceTable {
    /// The columns that polls and denials change.
    public static var progress: Self {
        only { [$0[\.origin.address], $0[\.origin.userAgent], $0.interval, $0.polledAt, $0.deniedAt] }
    }
}
