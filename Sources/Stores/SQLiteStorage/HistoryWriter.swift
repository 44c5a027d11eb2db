import AppleAccounts
import GRDB
import SQLTables

/// Appends to account histories. An account's rows are adjacent, so the last row, the new row and the deleted
/// row are nearly always on one page.
final class HistoryWriter {
    private let names: Names
    private let findLast: KeyedSelect<AccountID, Void>
    private let insert: Insertion<AccountHistoryTable>
    private let number: Column<Int64>
    private let app: Column<Int64>
    private let remove: PreparedStatement
    private let accountToRemove: Parameter<AccountID>
    private let lastToRemove: Parameter<Int64>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        findLast = try KeyedSelect(in: database) {
            "SELECT max(number) FROM account_history WHERE account_id = \($0)"
        }
        insert = try Insertion(in: database)
        (number, app) = (insert.columns["number", Int64.self], insert.columns["app_id", Int64.self])
        var removal = ParameterList()
        (accountToRemove, lastToRemove) = (removal.add(AccountID.self), removal.add(Int64.self))
        remove = try PreparedStatement(
            "DELETE FROM account_history WHERE account_id = \(accountToRemove) AND number <= \(lastToRemove)",
            in: database)
    }

    func append(_ entry: HistoryEntry) throws {
        let last = try findLast.first(entry.accountID) { $1.onlyValue(as: Int64.self) } ?? nil
        let number = (last ?? 0) + 1
        let appNumber = try names.apps.ensureNumber(of: entry.clientID)
        try insert {
            $0.write(entry, to: $1)
            $1.set(self.number, number)
            $1.set(app, appNumber)
        }
        guard number > HistoryEntry.mostPerAccount else { return }
        remove.begin()
        remove.bind(entry.accountID, to: accountToRemove)
        remove.bind(number - HistoryEntry.mostPerAccount, to: lastToRemove)
        try remove.execute()
    }
}
