import AppleAccounts

/// Turns a person into a tombstone. Numbers of names are looked up in the statements: one that is missing
/// violates NOT NULL, so that nothing is lost in silence.
enum ErasureWriter {
    private static let removeCredentials = PostgresStatement(
        "erase_credentials",
        """
        DELETE FROM credential WHERE subject_id = $3::bigint OR subject_id = (
            SELECT id FROM subject
            WHERE team_id = (SELECT id FROM team WHERE name = $1::text) AND sub = $2::text)
        """)
    // An older tombstone of the person makes room: its moment is in the person's row since they came back. Its
    // row stays for its events, under a name that says nothing.
    private static let retireTombstone = PostgresStatement(
        "retire_tombstone",
        """
        UPDATE subject SET sub = chr(1) || id
        WHERE team_id = (SELECT id FROM team WHERE name = $1::text) AND sub = $2::text
        """)
    private static let makeTombstone = PostgresStatement(
        "make_tombstone",
        """
        UPDATE subject SET sub = $2::text, account_id = NULL, created_at = NULL, email = NULL,
            email_is_verified = NULL, email_is_private = NULL, email_is_not_private = NULL, email_at = NULL, unsigned_email = NULL,
            forwarding = NULL, forwarding_at = NULL, first_name = NULL, last_name = NULL,
            real_user_status = NULL
        WHERE id = $1::bigint
        """)
    private static let insertErasure = PostgresStatement(
        "insert_erasure",
        """
        INSERT INTO erasure (id, account_id, team_id, requested_at, deadline, finished_at)
        VALUES ($1::uuid, $2::uuid, (SELECT id FROM team WHERE name = $3::text), $4::bigint, $5::bigint,
            $6::bigint)
        """)
    private static let insertApps = PostgresStatement(
        "insert_erasure_apps",
        """
        INSERT INTO erasure_app (erasure_id, app_id, had_token, state, reason, refresh_token_cause)
        SELECT $1::uuid, (SELECT id FROM app WHERE name = new.app), new.had_token, new.state, new.reason,
            new.cause
        FROM unnest($2::text[], $3::boolean[], $4::bigint[], $5::bigint[], $6::bigint[])
            new (app, had_token, state, reason, cause)
        """)
    private static let insertGrants = PostgresStatement(
        "insert_erasure_grants",
        """
        INSERT INTO erasure_grant (
            id, erasure_id, client_id, app_id, kind, step, outcome, attempts, next_attempt_at, is_claimed,
            cause, sealed, redirect_uri, expires_at)
        SELECT new.id, $1::uuid, (SELECT id FROM client WHERE name = new.client),
            (SELECT id FROM app WHERE name = new.app), new.kind, new.step, new.outcome, new.attempts,
            new.next_attempt_at, new.is_claimed, new.cause, new.sealed, new.redirect_uri, new.expires_at
        FROM unnest(
            $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::boolean[], $11::text[], $12::bytea[], $13::text[], $14::bigint[]
        ) new (
            id, client, app, kind, step, outcome, attempts, next_attempt_at, is_claimed, cause, sealed,
            redirect_uri, expires_at)
        """)

    /// - Parameters:
    ///   - key: Of the person.
    ///   - rowID: Of the person's subject. It is left without revocation.
    static func calls(_ erasure: ErasureRecord, key: SubjectKey, rowID: Int64) -> [PostgresCall] {
        let tombstone: [PostgresValue] = [.text(key.team.rawValue), .text(key.tombstoneName)]
        var calls = [
            PostgresCall(removeCredentials, tombstone + [.integer(rowID)]),
            PostgresCall(retireTombstone, tombstone),
            PostgresCall(makeTombstone, [.integer(rowID), .text(key.tombstoneName)]),
        ]
        calls += InboxErasure.calls(key.subject)
        calls.append(TransferRows.removal(of: [erasure.accountID]))
        calls.append(
            PostgresCall(
                insertErasure,
                [
                    .uuid(erasure.id.uniqueID), .uuid(erasure.accountID.uniqueID),
                    .text(key.team.rawValue), .moment(erasure.requestedAt), .moment(erasure.deadline),
                    .moment(erasure.finishedAt),
                ]))
        if !erasure.apps.isEmpty { calls.append(insertion(of: erasure.apps, of: erasure.id)) }
        if !erasure.grants.isEmpty { calls.append(insertion(of: erasure.grants, of: erasure.id)) }
        return calls
    }

    private static func insertion(of apps: [ErasedApp], of erasure: ErasureID) -> PostgresCall {
        PostgresCall(
            insertApps,
            [
                .uuid(erasure.uniqueID), .texts(apps.map(\.clientID.rawValue)),
                .booleans(apps.map(\.hadToken)), .integers(apps.map(\.stateBefore.storageCode)),
                .integers(apps.map { $0.reasonBefore?.storageCode }),
                .integers(apps.map { $0.refreshTokenCause?.storageCode }),
            ])
    }

    private static func insertion(of grants: [ErasureGrant], of erasure: ErasureID) -> PostgresCall {
        let steps = grants.map(\.step.storageCodes)
        return PostgresCall(
            insertGrants,
            [
                .uuid(erasure.uniqueID), .uuids(grants.map(\.id)), .texts(grants.map(\.clientID.rawValue)),
                .texts(grants.map(\.primaryClientID.rawValue)),
                .integers(grants.map(\.kind.storageCode)), .integers(steps.map(\.step)),
                .integers(steps.map(\.outcome)), .integers(grants.map(\.attempts)),
                .moments(grants.map(\.nextAttemptAt)), .booleans(grants.map(\.isClaimed)),
                .texts(grants.map(\.cause)), .byteStrings(grants.map { $0.sealed?.bytes }),
                .texts(grants.map(\.redirectURI)), .moments(grants.map(\.expiresAt)),
            ])
    }
}
