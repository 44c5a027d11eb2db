import AppleAccounts
import GRDB

/// Reads the accounts of an app that may be transferred, and what was remembered of transfers.
final class TransferRows {
    private let names: Names
    private let findAccounts: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        findAccounts = try PreparedStatement(
            """
            SELECT s.account_id, s.sub, s.created_at FROM subject s
            WHERE s.account_id > ?1 AND s.team_id = ?2
                AND EXISTS (SELECT 1 FROM credential c WHERE c.subject_id = s.id AND c.app_id = ?3)
            ORDER BY s.account_id LIMIT ?4
            """, in: database)
    }

    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) throws -> [TransferableAccount] {
        guard let team = try names.teams.number(of: team), let app = try names.apps.number(of: clientID)
        else { return [] }
        findAccounts.begin()
        findAccounts.bind(after?.uniqueID ?? UniqueID(high: 0, low: 0), at: 1)
        findAccounts.bind(team, at: 2)
        findAccounts.bind(app, at: 3)
        findAccounts.bind(Int64(limit), at: 4)
        defer { findAccounts.finish() }
        var accounts: [TransferableAccount] = []
        while try findAccounts.step() {
            guard let id = findAccounts.uniqueID(0), let createdAt = findAccounts.moment(2),
                let subject = findAccounts.text(1).flatMap({ AppleSubject($0) })
            else { throw StorageError(.corrupted, detail: "an account lacks something") }
            accounts.append(
                TransferableAccount(accountID: AccountID(id), subject: subject, createdAt: createdAt))
        }
        return accounts
    }
}
