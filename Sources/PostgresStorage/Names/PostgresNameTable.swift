import AppleAccounts

/// Small numbers for names that are few and stand in many rows: teams, apps, clients. They never change and are
/// never taken away, so the session remembers what it has seen.
final class PostgresNameTable<Name: ByteComparedText> {
    private var numbers: [Name: Int64] = [:]
    private var names: [Int64: Name] = [:]
    private let make: (String) -> Name?
    private let insert: PostgresStatement
    private let read: PostgresStatement
    private let readAll: PostgresStatement

    /// - Parameter table: One of our own table names, with the columns `id` and `name`.
    init(_ table: String, make: @escaping (String) -> Name?) {
        self.make = make
        // In the order of the names, so that two replicas that meet the same new ones cannot wait for each other.
        insert = PostgresStatement(
            "insert_\(table)",
            """
            INSERT INTO \(table) (name) SELECT name FROM unnest($1::text[]) AS new (name)
            WHERE NOT EXISTS (SELECT FROM \(table) AS old WHERE old.name = new.name)
            ORDER BY name COLLATE "C" ON CONFLICT (name) DO NOTHING
            """)
        read = PostgresStatement(
            "read_\(table)", "SELECT id, name FROM \(table) WHERE name = ANY ($1::text[])")
        readAll = PostgresStatement("read_all_of_\(table)", "SELECT id, name FROM \(table)")
    }

    /// Stores those that are new. Not inside of a transaction: what is remembered must not be rolled back.
    func ensure(_ names: Set<Name>, in session: PostgresSession) throws {
        let new = names.filter { numbers[$0] == nil }
        guard !new.isEmpty else { return }
        let texts = PostgresValue.texts(new.map(\.rawValue))
        // Two statements of their own: the second sees what somebody else has inserted instead of the first.
        _ = try session.run(PostgresCall(insert, [texts]))
        remember(try session.run(PostgresCall(read, [texts])))
    }

    /// Returns `nil` for a name that has never been stored.
    func number(of name: Name, in session: PostgresSession) throws -> Int64? {
        if let number = numbers[name] { return number }
        remember(try session.run(PostgresCall(read, [.texts([name.rawValue])])))
        return numbers[name]
    }

    /// The number of a name that was made sure of.
    func ensuredNumber(of name: Name) throws -> Int64 {
        guard let number = numbers[name] else {
            throw StorageError(.corrupted, detail: "a name has no number")
        }
        return number
    }

    func name(of number: Int64, in session: PostgresSession) throws -> Name {
        if let name = names[number] { return name }
        // Another replica has stored it, and nearly always it is not the only one.
        remember(try session.run(PostgresCall(readAll)))
        guard let name = names[number] else {
            throw StorageError(.corrupted, detail: "number \(number) has no name")
        }
        return name
    }

    private func remember(_ rows: PostgresRows) {
        for row in 0..<rows.count {
            // Number 0 of the apps has a name that is none.
            guard let number = rows.integer(row, 0), let name = rows.text(row, 1).flatMap(make) else {
                continue
            }
            numbers[name] = number
            names[number] = name
        }
    }
}
