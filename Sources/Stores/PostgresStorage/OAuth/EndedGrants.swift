import AppleAccounts
import AuthorizationServer
import SQLTables

/// Ends the grants of credentials that account commands have ended, in the transaction of the commands, which
/// has locked the subjects.
struct EndedGrants {
    /// Events of the transaction, with the grant events at their positions.
    let events: [AccountEvent]
    /// Entries of the audit log about the grants.
    let audit: [AuditEntry]
    /// Writes to make.
    let calls: [PostgresCall]

    private static let findHolders = TypedQuery<Column<AccountID>, [Int64?], [String?]>("oauth_find_holders")
    {
        $0.add("s.account_id", AccountID.self, as: "account_id")
    } sql: { list, teams, names in
        """
        SELECT \(list) FROM unnest(\(teams), \(names)) AS k (team_id, sub)
        CROSS JOIN LATERAL (
            SELECT account_id FROM subject
            WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS s
        WHERE s.account_id IS NOT NULL
            AND EXISTS (SELECT 1 FROM oauth_grant g WHERE g.account_id = s.account_id)
        """
    }

    /// Returns the query for accounts with grants, sent in the round trip that locks the subjects; `nil` when
    /// no command can end a credential, or the accounts are not known yet.
    static func holdersCall(_ set: WorkingSet, _ keys: SubjectKeyArrays) -> PostgresCall? {
        guard set.hasRevocation else { return nil }
        return findHolders.statement(keys.teamNumbers, keys.names)
    }

    static func holders(_ rows: PostgresRows) throws -> Set<AccountID> {
        Set(try rows.map { try $0.required(findHolders.columns) })
    }

    /// Reads in one round trip, and only when a credential has ended.
    ///
    /// - Parameter holders: Accounts that have grants; `nil` when the query was not sent.
    init(
        of set: WorkingSet, holders: Set<AccountID>?, _ names: PostgresNames, in session: PostgresSession
    ) throws {
        guard var ending = GrantEnding(of: set),
            holders.map({ !$0.isDisjoint(with: ending.accountIDs) }) ?? true
        else {
            (events, audit, calls) = (set.events, [], [])
            return
        }
        let results = try session.pipeline(StoredGrantRows.calls(for: ending.accountIDs))
        let held = try StoredGrantRows(results[...], names, in: session)
        ending.load(grants: held.grants, families: held.families, codes: held.codes)
        var generator = SystemRandomNumberGenerator()
        events = ending.carryOut(set.events, using: &generator)
        audit = ending.audit
        calls =
            GrantChangeWriter.calls(for: ending.changes)
            + GrantChangeWriter.forgetCalls(googleSubjects: ending.forgottenGoogleSubjects)
    }
}

extension WorkingSet {
    /// Indicates a notification that reports the end of a credential. Erasures and transfers stand alone, and
    /// are rare enough for a round trip of their own.
    fileprivate var hasRevocation: Bool {
        commands.contains { command in
            guard case .notification(let notification) = command else { return false }
            return notification.events.contains(where: \.isRevocation)
        }
    }
}
