import Foundation
import PostgresCluster
import TestSupport

/// The database of a service, read with `sqlite3` or `psql` as an operator would.
struct ObservedDatabase: Sendable {
    enum Store: String, CaseIterable, Sendable { case sqlite, postgres }

    private enum Place {
        case file(String, TemporaryDirectory)
        case server(PostgresCluster, name: String)
    }

    /// Value for `DATABASE_URL`.
    let url: String
    private let place: Place

    static func make(_ store: Store, in directory: TemporaryDirectory) async throws -> ObservedDatabase {
        switch store {
        case .sqlite:
            let path = directory.path(of: "siwa.sqlite")
            return ObservedDatabase(url: "sqlite://\(path)", place: .file(path, directory))
        case .postgres:
            let cluster = try await PostgresCluster.shared()
            let url = try await cluster.makeDatabase()
            let name = url.split(separator: "/").last.map { String($0) } ?? ""
            return ObservedDatabase(url: url, place: .server(cluster, name: name))
        }
    }

    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs SQL, and returns the rows, one per line, with "|" between the columns.
    @discardableResult
    func query(_ sql: String) async throws -> String {
        switch place {
        case .server(let cluster, let name): return try await cluster.superuserQuery(sql, in: name)
        case .file(let path, let directory):
            let run = try await OperatorTool.run(
                "sqlite3", ["-batch", "-bail", "-cmd", ".timeout 5000", path, sql], in: directory)
            guard run.status == 0 else { throw Refused(description: run.output) }
            return run.output.trimmingCharacters(in: .newlines)
        }
    }

    /// Returns all rows of a table as text. Bytes are in hexadecimal.
    func rows(of table: String) async throws -> String {
        let sql = "SELECT * FROM \(table)"
        guard case .file(let path, let directory) = place else { return try await query(sql) }
        let run = try await OperatorTool.run(
            "sqlite3", ["-batch", "-bail", "-quote", path, sql], in: directory)
        guard run.status == 0 else { throw Refused(description: run.output) }
        return run.output
    }

    /// The number of rows of every table.
    func rowCounts() async throws -> [String: Int] {
        let listing =
            switch place {
            case .file: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            case .server: "SELECT tablename FROM pg_tables WHERE tableowner = 'siwa'"
            }
        let tables = try await query(listing).split(separator: "\n")
        let counts = try await query(
            tables.map { "SELECT '\($0)', count(*) FROM \"\($0)\"" }.joined(separator: " UNION ALL "))
        return Dictionary(
            counts.split(separator: "\n").map { line in
                let columns = line.split(separator: "|")
                return (String(columns[0]), columns.last.flatMap { Int($0) } ?? -1)
            }, uniquingKeysWith: { $1 })
    }

    /// Size of the database and its log on disk.
    func bytes() async throws -> Int {
        switch place {
        case .server(_, let name): return Int(try await query("SELECT pg_database_size('\(name)')")) ?? -1
        case .file(let path, _):
            return try [path, path + "-wal"].reduce(0) { sum, path in
                let size = try FileManager.default.attributesOfItem(atPath: path)[.size]
                return sum + (size as? Int ?? 0)
            }
        }
    }

    /// Makes every deletion from a table fail, as when the service dies before the deletion.
    func refuseUpdates(of column: String, in table: String) async throws {
        let trigger = "CREATE TRIGGER refuse_updates BEFORE UPDATE OF \(column) ON \(table)"
        switch place {
        case .file: try await query("\(trigger) BEGIN SELECT RAISE(ABORT, 'refused by a test'); END")
        case .server:
            try await query(
                """
                CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'refused by a test'; END $$;
                \(trigger) FOR EACH ROW EXECUTE FUNCTION refuse_update()
                """)
        }
    }

    func allowUpdates(in table: String) async throws {
        switch place {
        case .file: try await query("DROP TRIGGER refuse_updates")
        case .server: try await query("DROP TRIGGER refuse_updates ON \(table)")
        }
    }
}
