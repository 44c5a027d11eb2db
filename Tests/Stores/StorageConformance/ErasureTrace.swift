public import AppleAccounts
package import SQLTables

/// Checks that an erasure leaves no personal and no secret value of a user in the database. The checked
/// columns follow from the classification of the columns, not from a list in a test. The check fails for a
/// new personal column that an erasure does not clear, and for a column without a value in the test data.
package struct ErasureTrace: Sendable {
    /// Content of a database: by table and primary key, the values of a row that are not NULL, by column.
    package typealias Tables = [String: [String: [String: String]]]

    private let declared: [TableDeclaration]
    private let read: @Sendable () async throws -> Tables

    /// - Parameter read: Reads every declared table.
    package init(_ declared: [TableDeclaration], read: @escaping @Sendable () async throws -> Tables) {
        (self.declared, self.read) = (declared, read)
    }

    /// A value of a user, and its place.
    private struct Trace {
        let table: String
        let column: ColumnDeclaration
        let key: String
        let value: String

        var place: String { "\(table).\(column.name)" }
    }

    /// Erases two users with values in all columns, among other users.
    ///
    /// - Returns: The texts that identified the users, which must not be in the files either.
    package func run(_ store: some ConformingStore) async throws -> [String] {
        for number in 0..<5 { try await store.signIn(.sample(key: .sample("other-\(number)"))) }
        let others = try await read()
        let accounts = [
            try await TracedUser.make(in: store, others: 0), try await TracedUser.makeSecond(in: store),
        ]
        try await TracedUser.link(accounts[0], in: store)
        for account in accounts {
            try await store.change(DisableCommand.sample(account, until: 7_777_777, at: 7500))
            try await store.change(
                SignOutCommand.sample(account, keptClients: ["google", "phone"], at: 7600))
        }
        let known = try await read()
        let traces = traces(in: known, without: others)
        try requireValues(traces)

        for (number, account) in accounts.enumerated() {
            try await store.erase(.sample(UInt64(number + 1), account: account, at: 9000))
        }
        try await finishErasures(store)
        let after = try await read()
        let words = words(traces, known)
        let left = traces.filter { after[$0.table]?[$0.key]?[$0.column.name] == $0.value }.map(\.place)
        try expect(left.isEmpty, "an erasure leaves no value in \(Set(left).sorted())")
        for word in words {
            let place = after.first { table in
                table.value.values.contains { row in row.values.contains { $0.contains(word) } }
            }
            try expect(place == nil, "an erasure leaves no \(word) in \(place?.key ?? "")")
        }
        return words
    }

    /// The personal and secret values of rows that are new or changed.
    private func traces(in tables: Tables, without others: Tables) -> [Trace] {
        declared.flatMap { table in
            (tables[table.name] ?? [:]).flatMap { key, row in
                table.columns.compactMap { column -> Trace? in
                    guard column.sensitivity != .operational, let value = row[column.name],
                        others[table.name]?[key]?[column.name] != value
                    else { return nil }
                    return Trace(table: table.name, column: column, key: key, value: value)
                }
            }
        }
    }

    /// Requires a value in each column: otherwise a column that an erasure does not clear would pass too.
    private func requireValues(_ traces: [Trace]) throws {
        let filled = Set(traces.map(\.place))
        for table in declared {
            for column in table.columns where column.sensitivity == .personal {
                let place = "\(table.name).\(column.name)"
                try expect(filled.contains(place), "TracedUser has a value in \(place), which is personal")
            }
        }
    }

    /// The texts that are long enough to search for. Values that operational columns also have, such as the
    /// account's ID in the event feed, are left out.
    private func words(_ traces: [Trace], _ known: Tables) -> [String] {
        var operational: Set<String> = []
        for table in declared {
            for row in (known[table.name] ?? [:]).values {
                for column in table.columns where column.sensitivity == .operational {
                    if let value = row[column.name] { operational.insert(value) }
                }
            }
        }
        let texts = traces.map(\.value).filter { text in
            text.count >= 6 && !text.allSatisfy(\.isNumber) && !operational.contains(text)
        }
        return Set(texts).sorted()
    }

    /// Ends every token, so that no value of the users has a reason to stay.
    private func finishErasures(_ store: some AppleTokenStore) async throws {
        let claimed = try await store.claimErasureTokens(
            limit: 100, at: 10_000_000, leaseUntil: 20_000_000, of: nil)
        for found in claimed {
            var token = found.token
            token.step = .done(.provenRevoked)
            try await store.save(token, of: found.erasureID, at: 10_000_000)
        }
    }
}

/// An audit log that begins with more rows of the future than a purge searches, and has an old row behind them.
public enum FutureAudit {
    private static let future = AuditPurge.largestStep + AuditPurge.farthestSearch
    private static let ahead: Moment = 9_000_000_000

    /// Appends the rows that `statements` multiply.
    public static func begin(in store: some AuditStore) async throws {
        try await store.appendAudit([
            AuditEntry(.consoleShow, by: .service, at: ahead),
            AuditEntry(.consoleShow, by: .service, at: 1000),
        ])
    }

    /// SQL for both databases. The hashes are wrong, which a purge does not look at.
    public static let statements = """
        UPDATE audit SET sequence = \(future + 1) WHERE sequence = 2;
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(future - 1))
        INSERT INTO audit (sequence, recorded_at, actor_kind, action, outcome, hash)
        SELECT sequence + i, recorded_at, actor_kind, action, outcome, hash
        FROM audit CROSS JOIN n WHERE sequence = 1;
        UPDATE audit_chain SET last_sequence = \(future + 1) WHERE id = 1;
        """

    /// Brings the old row into the reach of the search.
    public static let shortening = "DELETE FROM audit WHERE sequence = 1;"

    /// Returns the number of rows that a step deletes.
    public static func purge(_ store: some AuditStore) async throws -> Int {
        try await store.purgeAudit(before: 6000, at: 100_000)
    }
}
