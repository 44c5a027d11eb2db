import AppleAccounts
import SQLTables

/// Small numbers for names that are few and occur in many rows: teams, apps, clients. They never change and
/// are never deleted, so the session caches them.
final class PostgresNameTable<T: NumberedNames, Name: ByteComparedText & PostgresColumnValue> {
    private var numbers: [Name: Int64] = [:]
    private var names: [Int64: Name] = [:]
    private let number: Column<Int64>
    private let name: Column<Name>
    private let insert: TypedStatement<[Name]>
    private let read: TypedStatement<[Name]>
    private let readAll: PostgresCall

    init() {
        var list = SelectList()
        number = list.add("id", Int64.self, as: "id")
        name = list.add("name", Name.self, as: "name")
        // In the order of the names, so that two replicas that store the same new names cannot wait for each
        // other.
        insert = TypedStatement("insert_\(T.name)") { names in
            """
            INSERT INTO \(T.name) (name) SELECT name FROM unnest(\(names)) AS new (name)
            WHERE NOT EXISTS (SELECT FROM \(T.name) AS old WHERE old.name = new.name)
            ORDER BY name COLLATE "C" ON CONFLICT (name) DO NOTHING
            """
        }
        read = TypedStatement("read_\(T.name)") { names in
            "SELECT \(list) FROM \(T.name) WHERE name = ANY (\(names))"
        }
        readAll = PostgresCall(PostgresStatement("read_all_of_\(T.name)", "SELECT \(list) FROM \(T.name)"))
    }

    /// Stores new names. Not inside a transaction: cached numbers must not be rolled back.
    func ensure(_ names: Set<Name>, in session: PostgresSession) throws {
        let new = names.filter { numbers[$0] == nil }
        guard !new.isEmpty else { return }
        // Two separate statements: the second sees names that another replica inserted before the first
        // could.
        _ = try session.run(insert(Array(new)))
        remember(try session.run(read(Array(new))))
    }

    /// Returns `nil` for a name that has never been stored.
    func number(of name: Name, in session: PostgresSession) throws -> Int64? {
        if let number = numbers[name] { return number }
        remember(try session.run(read([name])))
        return numbers[name]
    }

    /// Returns the number of a name that was stored before.
    func ensuredNumber(of name: Name) throws -> Int64 {
        guard let number = numbers[name] else {
            throw StorageError(.corrupted, detail: "expected a number for a name in \(T.name), found none")
        }
        return number
    }

    func name(of number: Int64, in session: PostgresSession) throws -> Name {
        if let name = names[number] { return name }
        // Another replica has stored it, and usually other names too.
        remember(try session.run(readAll))
        guard let name = names[number] else {
            throw StorageError(
                .corrupted,
                detail: "expected a name with number \(number) in \(T.name), found none; restore a backup")
        }
        return name
    }

    private func remember(_ rows: PostgresRows) {
        for row in rows {
            // App number 0 is reserved and has no name.
            guard let number = row[number], let name = row[name] else { continue }
            numbers[name] = number
            names[number] = name
        }
    }
}
