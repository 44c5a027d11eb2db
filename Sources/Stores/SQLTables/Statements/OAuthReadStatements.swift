public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// OAuth 2.0 queries that no token request needs, including queries for inspections; for both databases.
enum OAuthReadStatements {
    static let findLinked = SQLStatement<Void, String, OAuthClientID>("oauth_find_linked") {
        _, subject, client in
        """
        SELECT g.account_id FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id
        WHERE l.google_subject = \(subject) AND l.google_subject IS NOT NULL AND NOT l.google_subject_is_learned
            AND g.oauth_client = \(client)
        ORDER BY l.created_at DESC, l.id DESC LIMIT 1
        """
    }
    // With byte-order collation, lower() changes only ASCII letters, as in the index. An account of another
    // app in the team counts too, because it has the same address.
    static let findByEmail = SQLStatement<
        (subject: SubjectTable, credential: CredentialTable), String, TeamID, ClientID
    >("oauth_find_by_email") {
        (
            subject: $0.add(SubjectTable.self, as: "s", .only { [$0.accountID, $0.subject] }),
            credential: $0.add(CredentialTable.self, as: "c", .only { [$0.subjectID] })
        )
    } sql: { dialect, list, email, team, app in
        """
        SELECT \(list) FROM subject s LEFT JOIN credential c
            ON c.subject_id = s.id AND c.app_id = (SELECT id FROM app WHERE name = \(app))
        WHERE s.email IS NOT NULL AND lower(s.email) = lower(\(email) \(dialect.byteOrder))
            AND s.email_is_verified AND s.email_is_private IS NOT TRUE
            AND s.account_id IS NOT NULL AND s.team_id = (SELECT id FROM team WHERE name = \(team))
        LIMIT 2
        """
    }
    static let findPace = SQLStatement<OAuthGrantPaceTable, AccountID, OAuthClientID>(rows: "oauth_find_pace")
    { _, account, client in
        "WHERE account_id = \(account) AND oauth_client = \(client)"
    }
    static let findDevice = SQLStatement<OAuthDeviceTable, SHA256Digest>(rows: "oauth_find_device") {
        _, userCode in
        "WHERE user_code_digest = \(userCode)"
    }
    static let isDisabled = SQLStatement<Void, String>("oauth_is_google_disabled") { _, subject in
        "SELECT is_disabled FROM google_account WHERE google_subject = \(subject)"
    }
    static let lastGoogleEvent = SQLStatement<Void>("oauth_last_google_event") { _ in
        "SELECT max(received_at) FROM google_event"
    }
    static let googleVerification = SQLStatement<Void, String>("oauth_google_verification") { _, state in
        """
        SELECT max(received_at) FROM google_event
        WHERE verification_state = \(state) AND verification_state IS NOT NULL
        """
    }
    static let clients = SQLStatement<Column<ClientID>>("inspect_clients") {
        $0.add("name", ClientID.self, as: "name")
    } sql: { _, list in
        """
        SELECT \(list) FROM app WHERE id > 0
            AND EXISTS (SELECT 1 FROM credential WHERE credential.app_id = app.id) ORDER BY name
        """
    }
}

extension SQLReader {
    /// Implements `AuthorizationStore`.
    public func account(
        linkedWith googleSubject: String, for client: OAuthClientID
    ) async throws -> AccountID? {
        let call = OAuthReadStatements.findLinked(googleSubject, client)
        return try await snapshot { try $0.value(call, as: AccountID.self) }
    }

    /// Implements `AuthorizationStore`.
    public func account(
        withVerifiedEmail email: String, app: ClientID, team: TeamID
    ) async throws -> AccountID? {
        let (subjects, credentials) = OAuthReadStatements.findByEmail.columns
        let found = try await snapshot { session in
            try session.rows(OAuthReadStatements.findByEmail(email, team, app)) { row in
                (
                    id: try row.required(subjects.accountID),
                    isMadeByGoogle: AppleSubject(try row.required(subjects.subject))?.isMadeByGoogle ?? false,
                    isOfApp: row[credentials.subjectID] != nil
                )
            }
        }
        guard let only = found.first, found.count == 1, only.isOfApp, !only.isMadeByGoogle else { return nil }
        return only.id
    }

    /// Implements `AuthorizationStore`.
    public func lastGoogleEvent() async throws -> Moment? {
        try await snapshot { try $0.value(OAuthReadStatements.lastGoogleEvent(), as: Moment.self) }
    }

    /// Implements `AuthorizationStore`.
    public func googleVerification(_ state: String) async throws -> Moment? {
        let call = OAuthReadStatements.googleVerification(state)
        return try await snapshot { try $0.value(call, as: Moment.self) }
    }

    /// Returns the apps that have stored rows, by primary client ID.
    public func primaryClientIDs() async throws -> [ClientID] {
        try await snapshot { session in
            try session.rows(OAuthReadStatements.clients()) { $0[OAuthReadStatements.clients.columns] }
        }.compactMap { $0 }
    }
}

extension AuthorizationStore where Self: SQLStore {
    public func pace(of account: AccountID, for client: OAuthClientID) async throws -> GrantPace? {
        try await snapshot { try $0.records(OAuthReadStatements.findPace, account, client).first }
    }

    public func device(withUserCode digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await snapshot { try $0.records(OAuthReadStatements.findDevice, digest).first }
    }

    public func isDisabled(googleSubject: String) async throws -> Bool {
        let call = OAuthReadStatements.isDisabled(googleSubject)
        return try await snapshot { try $0.value(call, as: Bool.self) ?? false }
    }
}
