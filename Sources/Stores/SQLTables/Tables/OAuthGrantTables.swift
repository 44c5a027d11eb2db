public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// The table of grants that users have given to OAuth clients.
public typealias OAuthGrantTable = RecordTable<GrantRecord>

extension GrantRecord: StoredRecord {
    public typealias Given = ClientID

    public static var table: String { "oauth_grant" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        GrantRecord(
            id: try column("id", .operational, \.id),
            accountID: try column("account_id", .operational, \.accountID),
            oauthClientID: try column("oauth_client", .operational, \.oauthClientID),
            clientID: column.number("app_id") { $0 },
            scope: try column("scope", .personal, \.scope, .length(0...2048)),
            createdAt: try column("created_at", .personal, \.createdAt),
            consentedAt: try column("consented_at", .personal, \.consentedAt),
            authorizedAt: try column("authorized_at", .personal, \.authorizedAt),
            googleSubject: try column("google_subject", .personal, \.googleSubject, .length(1...255)),
            lastUsedAt: try column("last_used_at", .personal, \.lastUsedAt))
    }
}

/// The grant columns, with the numbers of the grants' apps.
public struct GrantColumns: Sendable {
    @usableFromInline let table: OAuthGrantTable
    @usableFromInline let app: Column<Int64>

    public init(_ table: OAuthGrantTable) { (self.table, app) = (table, table["app_id", Int64.self]) }

    @inlinable
    public func record(_ row: some ReadableRow, app name: (Int64) throws -> ClientID) throws -> GrantRecord {
        try table.record(row, name(row.required(app)))
    }
}

extension SubjectRecord {
    /// Returns the account with its credential for an app; `nil` without an account.
    @inlinable public func status(for app: ClientID) -> AccountStatus? {
        account.map { AccountStatus(account: $0, credential: record(for: app)) }
    }
}

extension ColumnChoice where T == OAuthGrantTable {
    public static var values: Self { except { [$0.id, $0.accountID, $0.oauthClientID] } }
}

/// The table of token families, which are issued for codes and assertions. Refresh-token digests are SHA-256
/// of random bytes. They are classified as secret because inverting SHA-256 would yield the token.
public typealias OAuthTokenFamilyTable = RecordTable<TokenFamily>

extension TokenFamily: StoredRecord {
    public static var table: String { "oauth_token_family" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let id = try column("id", .operational, \.id)
        let grantID = try column("grant_id", .operational, \.grantID)
        let isNative = try column("is_native", .operational, \.isNative)
        let scope = try column("scope", .personal, \.scope, .length(0...2048))
        let authenticatedAt = try column("authenticated_at", .personal, \.authenticatedAt)
        let authorizedAt = try column("authorized_at", .personal, \.authorizedAt)
        let createdAt = try column("created_at", .personal, \.createdAt)
        let expiresAt = try column("expires_at", .operational, \.expiresAt)
        let secret = try column.part("family_secret_digest", .secret) { $0.refreshToken?.familySecretDigest }
        let digest = try column.part("token_digest", .secret) { $0.refreshToken?.digest }
        // The refresh token's generation, for operators. No rule reads it, but the schema requires it in a
        // token family that has a refresh token.
        let generation = try column.part("generation", .operational) { $0.refreshToken?.generation }
        // The last exchanged token's digest, time and salt.
        let previous = try column.part("previous_digest", .secret) {
            $0.refreshToken?.exchanged.first?.digest
        }
        let rotatedAt = try column.part("rotated_at", .personal) { $0.refreshToken?.exchanged.first?.moment }
        let salt = try column.part("previous_salt", .secret, .length(32...32)) {
            $0.refreshToken?.exchanged.first?.salt
        }
        // Up to three tokens exchanged before the last token, latest first. Each token has a digest of 32
        // bytes, a salt of 32 bytes and a time of 8 bytes. NULL for nearly all families, because only
        // exchanges within minutes set it.
        let earlier = try column.part("earlier_tokens", .secret, .length(72...216)) {
            $0.refreshToken?.earlierTokens
        }
        // The digest that identifies the token when the service reports its end to Google, even after an
        // erasure. Set only for refresh tokens of Google's client.
        let doubleSHA512 = try column.part("double_sha512", .operational) { $0.refreshToken?.doubleSHA512 }
        var refreshToken: RefreshTokenState?
        if let secret {
            refreshToken = RefreshTokenState(
                familySecretDigest: secret, digest: try column.required(digest, "token_digest"),
                generation: try column.required(generation, "generation"),
                exchanged: RefreshTokenState.exchanged(previous, rotatedAt, salt, earlier: earlier),
                doubleSHA512: doubleSHA512)
        }
        return TokenFamily(
            id: id, grantID: grantID, isNative: isNative, scope: scope, authenticatedAt: authenticatedAt,
            authorizedAt: authorizedAt, createdAt: createdAt, expiresAt: expiresAt,
            refreshToken: refreshToken,
            // The token family's Google account, if known.
            googleSubject: try column("google_subject", .personal, \.googleSubject, .length(1...255)),
            isGoogleSubjectLearned: try column(
                "google_subject_is_learned", .operational, \.isGoogleSubjectLearned))
    }
}

extension ColumnChoice where T == OAuthTokenFamilyTable {
    /// The columns for repeated exchanges.
    public static var retries: Self {
        only { [$0["previous_salt", [UInt8].self], $0["earlier_tokens", [UInt8].self]] }
    }
    public static var exceptRetries: Self {
        except { [$0["previous_salt", [UInt8].self], $0["earlier_tokens", [UInt8].self]] }
    }

    /// The columns that change when the token family is used, and when a Google event arrives.
    public static var progress: Self {
        except {
            [
                $0.id, $0.grantID, $0.isNative, $0.scope, $0.authenticatedAt, $0.authorizedAt, $0.createdAt,
                $0["family_secret_digest", SHA256Digest.self],
            ]
        }
    }
}

extension RefreshTokenState {
    @usableFromInline var earlierTokens: [UInt8]? {
        exchanged.count > 1 ? exchanged.dropFirst().flatMap(\.stored) : nil
    }

    @usableFromInline static func exchanged(
        _ digest: SHA256Digest?, _ moment: Moment?, _ salt: [UInt8]?, earlier: [UInt8]?
    ) -> [ExchangedToken] {
        guard let digest, let moment else { return [] }
        return [ExchangedToken(digest: digest, moment: moment, salt: salt)]
            + ExchangedToken.tokens(stored: earlier ?? [])
    }
}

/// The storage form of an exchanged token in `earlier_tokens`.
extension RefreshTokenState.ExchangedToken {
    /// The stored bytes (digest, salt, time); empty for a token without a salt, because its exchange cannot
    /// be repeated.
    fileprivate var stored: [UInt8] {
        guard let salt else { return [] }
        let time = UInt64(bitPattern: moment.milliseconds)
        return digest.bytes + salt + (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * UInt64($0))) }
    }

    fileprivate static func tokens(stored bytes: [UInt8]) -> [Self] {
        stride(from: 0, to: bytes.count - 71, by: 72).compactMap { start in
            let time = bytes[(start + 64)..<(start + 72)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return SHA256Digest(bytes[start..<(start + 32)]).map {
                Self(
                    digest: $0, moment: Moment(milliseconds: Int64(bitPattern: time)),
                    salt: Array(bytes[(start + 32)..<(start + 64)]))
            }
        }
    }
}

/// The table of grant rates: the number of grants that an account has given an OAuth client within an hour.
/// The row contains an account ID, but leads to no other data, so an erasure keeps it until that hour ends.
public typealias OAuthGrantPaceTable = RecordTable<GrantPace>

extension GrantPace: StoredRecord {
    public static var table: String { "oauth_grant_pace" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        GrantPace(
            accountID: try column("account_id", .operational, \.accountID),
            oauthClientID: try column("oauth_client", .operational, \.oauthClientID),
            begunAt: try column("begun_at", .operational, \.begunAt),
            count: try column("count", .operational, \.count, .range(0...Int64.max)),
            // Number of new token families; NULL for zero.
            families: try column.part("families", .operational, .range(1...Int64.max)) {
                $0.families == 0 ? nil : $0.families
            } ?? 0)
    }
}

extension ColumnChoice where T == OAuthGrantPaceTable {
    public static var values: Self { except { [$0.accountID, $0.oauthClientID] } }
    public static var families: Self { only { [$0["families", Int64.self]] } }
    public static var exceptFamilies: Self { except { [$0["families", Int64.self]] } }
}
