import AppleAccounts

/// Writes what commands change of codes and tokens, in at most five statements whatever their number.
enum PostgresGrantWriter {
    private static let removeCodes = PostgresStatement(
        "remove_codes",
        "DELETE FROM authorization_code WHERE id = ANY ($1::uuid[]) OR account_id = ANY ($2::uuid[])")
    private static let removeTokens = PostgresStatement(
        "remove_tokens",
        """
        DELETE FROM refresh_token t
        USING unnest($1::uuid[], $2::text[]) gone (account_id, client) JOIN client ON client.name = gone.client
        WHERE t.account_id = gone.account_id AND t.client_id = client.id
        """)
    private static let removeAllTokens = PostgresStatement(
        "remove_all_tokens", "DELETE FROM refresh_token WHERE account_id = ANY ($1::uuid[])")
    // A name without number violates NOT NULL, so that no row is lost in silence.
    private static let insertCodes = PostgresStatement(
        "insert_codes",
        """
        INSERT INTO authorization_code (
            id, account_id, client_id, app_id, redirect_uri, sealed, authorized_at, expires_at, attempts,
            next_attempt_at, is_claimed)
        SELECT new.id, new.account_id, (SELECT id FROM client WHERE name = new.client),
            (SELECT id FROM app WHERE name = new.app), new.redirect_uri, new.sealed, new.authorized_at,
            new.expires_at, 0, new.next_attempt_at, false
        FROM unnest(
            $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bigint[],
            $8::bigint[], $9::bigint[]
        ) new (id, account_id, client, app, redirect_uri, sealed, authorized_at, expires_at, next_attempt_at)
        ON CONFLICT (id) DO NOTHING
        """)
    private static let putTokens = PostgresStatement(
        "put_tokens",
        """
        INSERT INTO refresh_token (
            account_id, client_id, app_id, token_id, sealed, authorized_at, next_check_at)
        SELECT new.account_id, (SELECT id FROM client WHERE name = new.client),
            (SELECT id FROM app WHERE name = new.app), new.token_id, new.sealed, new.authorized_at,
            new.next_check_at
        FROM unnest(
            $1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::bytea[], $6::bigint[], $7::bigint[]
        ) new (account_id, client, app, token_id, sealed, authorized_at, next_check_at)
        ON CONFLICT (account_id, client_id) DO UPDATE SET app_id = excluded.app_id,
            token_id = excluded.token_id, sealed = excluded.sealed, authorized_at = excluded.authorized_at,
            next_check_at = excluded.next_check_at
        """)

    /// To be run in the batch's transaction once its subjects and credentials are saved. The names of the
    /// apps and clients are there already.
    static func calls(for changes: [GrantChange]) -> [PostgresCall] {
        guard !changes.isEmpty else { return [] }
        let net = NetGrantChanges(changes)
        let emptied = PostgresValue.uuids(net.emptiedAccounts.map(\.uniqueID))
        var calls: [PostgresCall] = []
        if !net.removedCodes.isEmpty || !net.emptiedAccounts.isEmpty {
            calls.append(
                PostgresCall(removeCodes, [.uuids(net.removedCodes), emptied]))
        }
        if !net.emptiedAccounts.isEmpty { calls.append(PostgresCall(removeAllTokens, [emptied])) }
        if !net.removedTokens.isEmpty {
            calls.append(
                PostgresCall(
                    removeTokens,
                    [
                        .uuids(net.removedTokens.map(\.accountID.uniqueID)),
                        .texts(net.removedTokens.map(\.clientID.rawValue)),
                    ]))
        }
        if let call = insertion(of: net.codes) { calls.append(call) }
        if let call = insertion(of: net.tokens) { calls.append(call) }
        return calls
    }

    private static func insertion(of codes: [AuthorizationCodeRecord]) -> PostgresCall? {
        guard !codes.isEmpty else { return nil }
        return PostgresCall(
            insertCodes,
            [
                .uuids(codes.map(\.id)), .uuids(codes.map(\.accountID.uniqueID)),
                .texts(codes.map(\.clientID.rawValue)), .texts(codes.map(\.primaryClientID.rawValue)),
                .texts(codes.map(\.redirectURI)), .byteStrings(codes.map(\.sealed.bytes)),
                .integers(codes.map(\.authorizedAt.milliseconds)),
                .integers(codes.map(\.expiresAt.milliseconds)),
                .integers(codes.map(\.nextAttemptAt.milliseconds)),
            ])
    }

    private static func insertion(of tokens: [RefreshTokenRecord]) -> PostgresCall? {
        guard !tokens.isEmpty else { return nil }
        return PostgresCall(
            putTokens,
            [
                .uuids(tokens.map(\.accountID.uniqueID)), .texts(tokens.map(\.clientID.rawValue)),
                .texts(tokens.map(\.primaryClientID.rawValue)), .uuids(tokens.map(\.id)),
                .byteStrings(tokens.map(\.sealed.bytes)), .integers(tokens.map(\.authorizedAt.milliseconds)),
                .integers(tokens.map(\.nextCheckAt.milliseconds)),
            ])
    }
}
