import Foundation
import GRDB
import SQLTables
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct TableColumnsTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `declares and classifies every column of the schema, and nothing else`() async throws {
        try await file.use { _ in }
        let found = try await DatabaseQueue(path: file.path).read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
                    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
                    """)
        }
        let declared = DeclaredTables.all.flatMap { table in
            table.columns.map { "\(table.name).\($0.name)" }
        }
        #expect(declared.sorted() == found.sorted())
    }

    @Test func `leaves no personal and no secret value of a user who was erased`() async throws {
        let words = try await file.use { database in
            try await ErasureTrace(DeclaredTables.all, read: { try await tables() }).run(database.accounts)
        }
        #expect(words.contains("trace-mail@example.com") && words.contains("Tracina"))
        let data = FileManager.default.contents(atPath: file.path) ?? Data()
        // Every byte becomes a character, so that text is found between bytes that are not UTF-8.
        let pages = try #require(String(data: data, encoding: .isoLatin1))
        for word in words {
            let isInPage = pages.contains(word)
            #expect(!isInPage, "\(word) is in a page")
        }
    }

    @Test func `the benchmark fills columns that the tables have, and all that they require`() throws {
        let lists = try BenchmarkRows.lists().filter { !["fill_sql", "write_upsert"].contains($0.function) }
        #expect(
            lists.map(\.table) == [
                "app_attest_key", "oauth_grant", "oauth_token_family", "oauth_code", "subject", "credential",
            ])
        #expect(BenchmarkRows.mistakes(in: lists, of: DeclaredTables.all) == [])
    }

    @Test func `numbers no parameter and reads no column by its position outside of the mechanism`() throws {
        let mechanism: Set = [
            "Connection/ParameterList.swift", "Connection/PreparedStatement.swift",
            "Connection/SQLiteCell.swift",
        ]
        #expect(
            try SourceCheck.lines(
                in: "SQLiteStorage", matching: #"\?[0-9]|(=|<|>|LIMIT|VALUES) \(?\?|\?, \?"#,
                exempt: mechanism) == [])
        #expect(
            try SourceCheck.lines(
                in: "SQLiteStorage", matching: #"Column(<[^>]*>)?\(|atUncheckedIndex|row\[[0-9]|sqlite3_"#,
                exempt: mechanism.union(["Connection/Database+WrittenPages.swift"])) == [])
    }

    /// Every row of every declared table, by its primary key.
    private func tables() async throws -> ErasureTrace.Tables {
        try await DatabaseQueue(path: file.path).read { database in
            var tables: ErasureTrace.Tables = [:]
            for table in DeclaredTables.all {
                let key = try database.primaryKey(table.name).columns
                for row in try Row.fetchAll(database, sql: "SELECT * FROM \(table.name)") {
                    let values = Dictionary(uniqueKeysWithValues: row.map { ($0, Self.text($1)) })
                        .compactMapValues { $0 }
                    let name = key.map { values[$0] ?? "" }.joined(separator: "/")
                    tables[table.name, default: [:]][name] = values
                }
            }
            return tables
        }
    }

    private static func text(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .null: nil
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let data):
            String(data: data, encoding: .utf8) ?? data.map { "\($0)" }.joined(separator: " ")
        }
    }
}

@Suite struct ColumnChoiceTests {
    @Test func `gives chosen columns their places, in order, and the others none`() {
        var list = SelectList()
        let first = list.add("1", Int64.self, as: "one")
        let subject = list.add(SubjectTable.self, as: "s", .only { [$0.email, $0.id] })
        let credential = list.add(
            CredentialTable.self, as: "c", .only { [$0.revokedAt, $0.revokedReason, $0.revokedSource] })
        #expect(first.place == 0)
        #expect([subject.email.place, subject.id.place, subject.firstName.place] == [1, 2, -1])
        #expect([credential.revokedAt.place, credential.revokedSource.place] == [3, 5])
        #expect("\(list)" == "1, s.email, s.id, c.revoked_at, c.revoked_reason, c.revoked_source")
    }

    @Test func `clears every personal column of a subject when it gives the row another name`() {
        let cleared = SQLiteSubjectTable.clearing(subject: "'x'", keyDigest: "'y'")
        for column in SQLiteSubjectTable.declaration.columns where column.sensitivity != .operational {
            let (isCleared, isRenamed) = (
                cleared.contains("\(column.name) = NULL"), ["sub", "key_digest"].contains(column.name)
            )
            #expect(isCleared != isRenamed)
        }
        #expect(!cleared.contains("team_id"))
    }
}
