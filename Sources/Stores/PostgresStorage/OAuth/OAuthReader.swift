import AppleAccounts
import AuthorizationServer
import SQLTables

/// Reads for introspection and the use cases of OAuth 2.0.
enum OAuthReader {
    /// Reads a token family with its grant, and the user with all credentials: one statement, so one
    /// snapshot.
    private struct FindStatus {
        let statement: TypedStatement<UniqueID>
        let family: OAuthTokenFamilyTable
        let grant: OAuthGrantTable
        let subject: SubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            family = list.add(OAuthTokenFamilyTable.self, as: "l")
            grant = list.add(OAuthGrantTable.self, as: "g")
            subject = list.add(SubjectTable.self, as: "s")
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            statement = TypedStatement("oauth_standing") {
                """
                SELECT \(list)
                FROM (SELECT \(OAuthTokenFamilyTable.names()) FROM oauth_token_family WHERE id = \($0)) AS l
                CROSS JOIN LATERAL (
                    SELECT \(OAuthGrantTable.names()) FROM oauth_grant WHERE id = l.grant_id OFFSET 0) AS g
                CROSS JOIN LATERAL (
                    SELECT \(SubjectTable.names()) FROM subject WHERE account_id = g.account_id OFFSET 0) AS s
                LEFT JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
                    WHERE subject_id = s.id OFFSET 0) AS c ON true
                """
            }
        }
    }

    private static let findStatus = FindStatus()
    private static let findLinked = TypedStatement<String, OAuthClientID>("oauth_find_linked") {
        subject, client in
        """
        SELECT g.account_id FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id
        WHERE l.google_subject = \(subject) AND l.google_subject IS NOT NULL AND NOT l.google_subject_is_learned
            AND g.oauth_client = \(client)
        ORDER BY l.created_at DESC, l.id DESC LIMIT 1
        """
    }
    // The collation makes lower() change ASCII letters only, as in the index. The count comes before the
    // condition on the app: an account of another app of the team has the address too.
    private static let findByEmail = TypedStatement<String, TeamID, ClientID, String>("oauth_find_by_email") {
        email, team, app, made in
        """
        SELECT (array_agg(s.account_id))[1] FROM subject s
        WHERE s.email IS NOT NULL AND lower(s.email) = lower(\(email) COLLATE "C")
            AND s.email_is_verified AND s.email_is_private IS NOT TRUE
            AND s.account_id IS NOT NULL AND s.team_id = (SELECT id FROM team WHERE name = \(team))
        HAVING count(*) = 1 AND bool_and(
            NOT starts_with(s.sub, \(made))
            AND EXISTS (
                SELECT 1 FROM credential c
                WHERE c.subject_id = s.id AND c.app_id = (SELECT id FROM app WHERE name = \(app))))
        """
    }

    private static let findLastGoogleEvent = PostgresCall(
        PostgresStatement("oauth_last_google_event", "SELECT max(received_at) FROM google_event"))
    private static let findVerification = TypedStatement<String>("oauth_google_verification") {
        """
        SELECT max(received_at) FROM google_event
        WHERE verification_state = \($0) AND verification_state IS NOT NULL
        """
    }

    static func status(ofFamily id: UniqueID, in session: PostgresSession) throws -> TokenStatus? {
        let rows = try session.run(findStatus.statement(id))
        guard let first = rows.first else { return nil }
        let grant = try findStatus.grant.record(first, session.names, in: session)
        guard let sub = AppleSubject(try first.required(findStatus.subject.subject)) else {
            throw StorageError(
                .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
        }
        let team = try session.names.teams.name(of: first.required(findStatus.subject.teamID), in: session)
        var record = try findStatus.subject.record(first, key: SubjectKey(team: team, subject: sub))
        for row in rows { try findStatus.credential.add(row, to: &record, session.names, in: session) }
        guard let account = record.account else { return nil }
        return TokenStatus(
            family: try findStatus.family.family(first), grant: grant,
            status: AccountStatus(account: account, credential: record.record(for: grant.clientID)))
    }

    static func status(
        of account: AccountID, app: ClientID, in session: PostgresSession
    ) throws -> AccountStatus? {
        let record = try PostgresSubjects(names: session.names).find(account, in: session)?.record
        guard let record, let account = record.account else { return nil }
        return AccountStatus(account: account, credential: record.record(for: app))
    }

    static func account(
        linkedWith googleSubject: String, for client: OAuthClientID, in session: PostgresSession
    ) throws -> AccountID? {
        try session.run(findLinked(googleSubject, client)).onlyValue(as: AccountID.self)
    }

    static func lastGoogleEvent(in session: PostgresSession) throws -> Moment? {
        try session.run(findLastGoogleEvent).onlyValue(as: Moment.self)
    }

    static func googleVerification(_ state: String, in session: PostgresSession) throws -> Moment? {
        try session.run(findVerification(state)).onlyValue(as: Moment.self)
    }

    /// Returns `nil` when several accounts have the address.
    static func account(
        withVerifiedEmail email: String, app: ClientID, team: TeamID, in session: PostgresSession
    ) throws -> AccountID? {
        let made = AppleSubject.googlePrefix
        return try session.run(findByEmail(email, team, app, made)).onlyValue(as: AccountID.self)
    }
}
