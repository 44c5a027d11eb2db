import AppleAccounts

/// Credentials, column by column, as arrays for a statement.
struct CredentialArrays {
    private static let update = PostgresStatement(
        "update_credentials",
        """
        UPDATE credential AS c SET
            authorized_at = n.authorized_at, authorized_source = n.authorized_source,
            revoked_at = n.revoked_at, revoked_reason = n.revoked_reason, revoked_source = n.revoked_source,
            last_sign_in_at = n.last_sign_in_at, email_at = n.email_at, refresh_token = n.refresh_token,
            refresh_token_cause = n.refresh_token_cause
        FROM \(unnested)
        WHERE c.subject_id = n.subject_id AND c.app_id = n.app_id::integer
        """)

    private static let put = PostgresStatement(
        "put_credentials",
        """
        INSERT INTO credential (
            subject_id, app_id, authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source,
            last_sign_in_at, email_at, refresh_token, refresh_token_cause)
        SELECT n.* FROM \(unnested)
        ON CONFLICT (subject_id, app_id) DO UPDATE SET
            authorized_at = excluded.authorized_at, authorized_source = excluded.authorized_source,
            revoked_at = excluded.revoked_at, revoked_reason = excluded.revoked_reason,
            revoked_source = excluded.revoked_source, last_sign_in_at = excluded.last_sign_in_at,
            email_at = excluded.email_at, refresh_token = excluded.refresh_token,
            refresh_token_cause = excluded.refresh_token_cause
        """)

    private static let unnested = """
        unnest(
            $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
            $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
        AS n (
            subject_id, app_id, authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source,
            last_sign_in_at, email_at, refresh_token, refresh_token_cause)
        """

    private var rowIDs: [Int64?] = []
    private var apps: [Int64?] = []
    private var records: [CredentialRecord] = []
    private var lastSignIns: [Moment?] = []
    private var emails: [Moment?] = []
    private var refreshTokens: [RefreshTokenStatus?] = []

    mutating func add(_ credential: AppCredential, app: Int64, email: Moment?, rowID: Int64) {
        rowIDs.append(rowID)
        apps.append(app)
        records.append(credential.record)
        lastSignIns.append(credential.lastSignInAt)
        emails.append(email)
        refreshTokens.append(credential.refreshToken)
    }

    /// What holds for all apps.
    mutating func add(_ revocation: Revocation, rowID: Int64) {
        rowIDs.append(rowID)
        apps.append(PostgresNames.allApps)
        records.append(CredentialRecord(revocation: revocation))
        lastSignIns.append(nil)
        emails.append(nil)
        refreshTokens.append(nil)
    }

    /// Of rows that are there. Returns `nil` when there is none.
    func updateCall() -> PostgresCall? {
        rowIDs.isEmpty ? nil : PostgresCall(Self.update, values)
    }

    /// Of rows that may be there. Returns `nil` when there is none.
    func putCall() -> PostgresCall? {
        rowIDs.isEmpty ? nil : PostgresCall(Self.put, values)
    }

    private var values: [PostgresValue] {
        [
            .integers(rowIDs), .integers(apps), .moments(records.map { $0.authorization?.moment }),
            .integers(records.map { $0.authorization?.source.storageCode }),
            .moments(records.map { $0.revocation?.moment }),
            .integers(records.map { $0.revocation?.reason.storageCode }),
            .integers(records.map { $0.revocation?.source.storageCode }),
            .moments(lastSignIns), .moments(emails), .integers(refreshTokens.map { $0?.storageCodes.status }),
            .integers(refreshTokens.map { $0?.storageCodes.cause }),
        ]
    }
}
