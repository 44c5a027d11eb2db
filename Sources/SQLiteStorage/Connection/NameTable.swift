import AppleAccounts
import GRDB

/// Small numbers for names that are few and stand in many rows: teams and apps. Remembered for the
/// connection's life.
///
/// Not thread-safe: it stays on its connection's queue. Whoever rolls a transaction back must forget it,
/// because it may know numbers that do not exist any more.
struct NameTable<Name: ByteComparedText> {
    private let database: Database
    private let make: (String) -> Name?
    private let find: PreparedStatement
    private let read: PreparedStatement
    private let insert: PreparedStatement?
    private var numbers: [Name: Int64] = [:]
    private var names: [Int64: Name] = [:]

    /// - Parameter table: One of our own table names, with the columns `id` and `name`.
    init(_ table: String, writes: Bool, in database: Database, make: @escaping (String) -> Name?) throws {
        self.make = make
        self.database = database
        find = try PreparedStatement("SELECT id FROM \(table) WHERE name = ?", in: database)
        read = try PreparedStatement("SELECT name FROM \(table) WHERE id = ?", in: database)
        insert =
            writes
            ? try PreparedStatement("INSERT INTO \(table) (name) VALUES (?)", in: database) : nil
    }

    /// Returns `nil` for a name that has never been stored.
    mutating func number(of name: Name) throws -> Int64? {
        if let number = numbers[name] { return number }
        find.begin()
        find.bind(name.rawValue, at: 1)
        defer { find.finish() }
        guard try find.step(), let number = find.integer(0) else { return nil }
        remember(name, number)
        return number
    }

    /// Stores the name if it is new.
    mutating func ensureNumber(of name: Name) throws -> Int64 {
        if let number = try number(of: name) { return number }
        guard let insert else { throw StorageError(.readOnly, detail: "a reader has no new names") }
        insert.begin()
        insert.bind(name.rawValue, at: 1)
        try insert.execute()
        let number = database.lastInsertedRowID
        remember(name, number)
        return number
    }

    mutating func name(of number: Int64) throws -> Name {
        if let name = names[number] { return name }
        read.begin()
        read.bind(number, at: 1)
        defer { read.finish() }
        guard try read.step(), let name = read.text(0).flatMap(make) else {
            throw StorageError(.corrupted, detail: "number \(number) has no name")
        }
        remember(name, number)
        return name
    }

    private mutating func remember(_ name: Name, _ number: Int64) {
        numbers[name] = number
        names[number] = name
    }
}
