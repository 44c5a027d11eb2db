import AppleAccounts
import GRDB
import SQLTables

/// Reads the histories of accounts, and the payloads of the inbox.
final class HistoryRows {
    private let names: Names
    private let find: PreparedStatement
    private let account: Parameter<AccountID>
    private let limit: Parameter<Int64>
    private let columns: AccountHistoryTable
    private let findPayloads: PreparedStatement
    private let app: Parameter<Int64>
    private let subject: Parameter<String>
    private let payloadLimit: Parameter<Int64>
    private let key: NotificationEventTable
    private let notification: NotificationTable

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var parameters = ParameterList()
        (account, limit) = (parameters.add(AccountID.self), parameters.add(Int64.self))
        var list = SelectList()
        columns = list.add(AccountHistoryTable.self)
        find = try PreparedStatement(
            """
            SELECT \(list) FROM account_history WHERE account_id = \(account)
            ORDER BY number DESC LIMIT \(limit)
            """, in: database)
        var payloads = ParameterList()
        (app, subject) = (payloads.add(Int64.self), payloads.add(String.self))
        payloadLimit = payloads.add(Int64.self)
        var payloadList = SelectList()
        key = payloadList.add(NotificationEventTable.self, as: "e", .key)
        notification = payloadList.add(
            NotificationTable.self, as: "n", .only { [$0.payload, $0.receivedAt] })
        findPayloads = try PreparedStatement(
            """
            SELECT \(payloadList)
            FROM notification_event e CROSS JOIN notification n ON n.id = e.notification_id
            WHERE e.app_id = \(app) AND e.sub = \(subject) ORDER BY e.event_time DESC LIMIT \(payloadLimit)
            """, in: database)
    }

    func entries(of id: AccountID, limit: Int) throws -> [HistoryEntry] {
        find.begin()
        find.bind(id, to: account)
        find.bind(Int64(limit), to: self.limit)
        defer { find.finish() }
        var entries: [HistoryEntry] = []
        while try find.step() {
            entries.append(
                try columns.entry(find, clientID: names.apps.name(of: find.required(columns.appID))))
        }
        return entries
    }

    func payloads(about user: AppleSubject, for clientID: ClientID, limit: Int) throws -> [KeptPayload] {
        guard let number = try names.apps.number(of: clientID) else { return [] }
        findPayloads.begin()
        findPayloads.bind(number, to: app)
        findPayloads.bind(user.rawValue, to: subject)
        findPayloads.bind(Int64(limit), to: payloadLimit)
        defer { findPayloads.finish() }
        var payloads: [KeptPayload] = []
        while try findPayloads.step() {
            payloads.append(
                KeptPayload(
                    clientID: clientID, type: try findPayloads.required(key.type),
                    moment: try findPayloads.required(key.eventTime),
                    receivedAt: try findPayloads.required(notification.receivedAt),
                    payload: try findPayloads.required(notification.payload)))
        }
        return payloads
    }
}

/// Appends to the histories of accounts. The rows of an account are adjacent, so the last number, the new row and
/// the row that goes are nearly always on one page.
final class HistoryWriter {
    private let names: Names
    private let findLast: PreparedStatement
    private let accountOfLast: Parameter<AccountID>
    private let insert: PreparedStatement
    private let columns: AccountHistoryTable
    private let remove: PreparedStatement
    private let accountToRemove: Parameter<AccountID>
    private let lastToRemove: Parameter<Int64>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var parameters = ParameterList()
        accountOfLast = parameters.add(AccountID.self)
        findLast = try PreparedStatement(
            "SELECT max(number) FROM account_history WHERE account_id = \(accountOfLast)", in: database)
        let insertion = Insertion<AccountHistoryTable>()
        columns = insertion.columns
        insert = try PreparedStatement(insertion.sql, in: database)
        var removal = ParameterList()
        (accountToRemove, lastToRemove) = (removal.add(AccountID.self), removal.add(Int64.self))
        remove = try PreparedStatement(
            "DELETE FROM account_history WHERE account_id = \(accountToRemove) AND number <= \(lastToRemove)",
            in: database)
    }

    func append(_ entry: HistoryEntry) throws {
        let number = try lastNumber(of: entry.accountID) + 1
        insert.begin()
        columns.write(entry, to: insert)
        insert.set(columns.number, number)
        insert.set(columns.appID, try names.apps.ensureNumber(of: entry.clientID))
        try insert.execute()
        guard number > HistoryEntry.mostPerAccount else { return }
        remove.begin()
        remove.bind(entry.accountID, to: accountToRemove)
        remove.bind(number - HistoryEntry.mostPerAccount, to: lastToRemove)
        try remove.execute()
    }

    private func lastNumber(of id: AccountID) throws -> Int64 {
        findLast.begin()
        findLast.bind(id, to: accountOfLast)
        defer { findLast.finish() }
        return try findLast.step() ? findLast.onlyValue(as: Int64.self) ?? 0 : 0
    }
}
