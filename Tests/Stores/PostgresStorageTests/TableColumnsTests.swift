import Foundation
import PostgresCluster
import PostgresStorage
import SQLTables
import StorageConformance
import Testing

@Suite struct TableColumnsTests {
    @Test func `declares and classifies every column of the schema, and nothing else`() async throws {
        try await Replicas.with(1) { replicas in
            let found = try await PostgresCluster.shared().superuserQuery(
                """
                SELECT table_name || '.' || column_name FROM information_schema.columns
                WHERE table_schema = 'public'
                """, in: replicas.name)
            let declared = DeclaredTables.all.flatMap { table in
                table.columns.map { "\(table.name).\($0.name)" }
            }
            #expect(declared.sorted() == found.split(separator: "\n").map { String($0) }.sorted())
        }
    }

    @Test func `leaves no personal and no secret value of a user who was erased`() async throws {
        try await Replicas.with(1) { replicas in
            let words = try await ErasureTrace(DeclaredTables.all, read: { try await Self.tables(replicas) })
                .run(replicas.stores[0])
            #expect(words.contains("trace-mail@example.com") && words.contains("Tracina"))
        }
    }

    @Test func `the benchmark fills columns that the tables have, and all that they require`() throws {
        let lists = try BenchmarkRows.lists().filter { !["fill_sqlite", "_fill_keys"].contains($0.function) }
        #expect(
            lists.map(\.table) == [
                "oauth_grant", "oauth_token_family", "oauth_code", "credential", "subject", "credential",
            ])
        #expect(BenchmarkRows.mistakes(in: lists, of: DeclaredTables.all) == [])
        // The comparison finds what is wrong.
        let wrong = BenchmarkRows.List(function: "", table: "credential", columns: ["subject_id", "other"])
        #expect(
            BenchmarkRows.mistakes(in: [wrong], of: DeclaredTables.all) == [
                "credential.other: no such column", "credential.app_id: is missing",
            ])
    }

    @Test func `numbers no parameter and reads no column by its position outside of the mechanism`() throws {
        let mechanism: Set = [
            "Connection/TypedStatement.swift", "Connection/RowParameters.swift",
            "Connection/PostgresRows.swift", "Connection/PostgresStatement.swift",
        ]
        #expect(
            try SourceCheck.lines(in: "PostgresStorage", matching: #"\$[0-9]+::"#, exempt: mechanism) == [])
        #expect(
            try SourceCheck.lines(
                in: "PostgresStorage", matching: #"Column(<[^>]*>)?\(|PQgetvalue|row\[[0-9]"#,
                exempt: mechanism) == [])
    }

    /// Every row of every declared table, by its primary key.
    private static func tables(_ replicas: Replicas) async throws -> ErasureTrace.Tables {
        let cluster = try await PostgresCluster.shared()
        var tables: ErasureTrace.Tables = [:]
        for table in DeclaredTables.all {
            let key = try await cluster.superuserQuery(
                """
                SELECT a.attname FROM pg_index i
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                WHERE i.indisprimary AND i.indrelid = '\(table.name)'::regclass ORDER BY a.attnum
                """, in: replicas.name
            ).split(separator: "\n")
            let rows = try await cluster.superuserQuery(
                "SET bytea_output = escape; SELECT row_to_json(entry) FROM \(table.name) entry",
                in: replicas.name)
            for line in rows.split(separator: "\n") {
                let json = try JSONSerialization.jsonObject(with: Data(line.utf8))
                let row = try #require(json as? [String: Any])
                let values = row.compactMapValues { $0 is NSNull ? nil : "\($0)" }
                let name = key.map { values[String($0)] ?? "" }.joined(separator: "/")
                tables[table.name, default: [:]][name] = values
            }
        }
        return tables
    }
}
