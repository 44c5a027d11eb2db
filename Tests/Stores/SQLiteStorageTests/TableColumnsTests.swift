import AppAttestation
import AppleAccounts
import AuthorizationServer
import Cryptography
import Foundation
import GRDB
import KeySets
import StorageConformance
import Testing

@testable import SQLTables
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
        ]
        #expect(
            try SourceCheck.lines(
                in: "SQLiteStorage", matching: #"\?[0-9]|(=|<|>|LIMIT|VALUES) \(?\?|\?, \?"#,
                exempt: mechanism) == [])
        #expect(
            try SourceCheck.lines(
                in: "SQLiteStorage", matching: #"Column(<[^>]*>)?\(|atUncheckedIndex|row\[[0-9]|sqlite3_"#,
                exempt: mechanism.union(["Connection/LogCheckpoints.swift"])) == [])
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
        let cleared = SQLDialect.sqlite.clearingSubject(named: "'x'")
        for column in SQLiteSubjectTable.declaration.columns where column.sensitivity != .operational {
            let (isCleared, isRenamed) = (
                cleared.contains("\(column.name) = NULL"), ["sub", "key_digest"].contains(column.name)
            )
            #expect(isCleared != isRenamed)
        }
        #expect(!cleared.contains("team_id ="))
    }
}

/// The tables that are declared by their records.
@Suite struct RecordTableTests {
    private static let client = ClientID.placeholder
    private static let ofToken = (clientID: client, primaryClientID: client)

    @Test func `writes every column to where it reads it from, except the columns that stores write`() throws
    {
        var unwritten: [String] = []
        unwritten += try Self.unwritten(AttestedKeyRecord.self, ())
        unwritten += try Self.unwritten(AuditRow.self, ())
        unwritten += try Self.unwritten(AuditChain.self, ())
        unwritten += try Self.unwritten(SeenConfigurationPart.self, ())
        unwritten += try Self.unwritten(AccountEvent.self, (.placeholder, .placeholder, Self.client))
        unwritten += try Self.unwritten(ErasureRecord.self, (.placeholder, [], []))
        unwritten += try Self.unwritten(ErasedApp.self, Self.client)
        unwritten += try Self.unwritten(ErasureToken.self, Self.ofToken)
        unwritten += try Self.unwritten(GoogleAccountRecord.self, ())
        unwritten += try Self.unwritten(AuthorizationCodeRecord.self, Self.ofToken)
        unwritten += try Self.unwritten(RefreshTokenRecord.self, Self.ofToken)
        unwritten += try Self.unwritten(ServiceHourCount.self, ())
        unwritten += try Self.unwritten(AppCheckHour.self, ())
        unwritten += try Self.unwritten(CodeRecord.self, (.placeholder, .placeholder))
        unwritten += try Self.unwritten(DeviceAuthorization.self, ())
        unwritten += try Self.unwritten(GrantRecord.self, Self.client)
        unwritten += try Self.unwritten(TokenFamily.self, ())
        unwritten += try Self.unwritten(GrantPace.self, ())
        unwritten += try Self.unwritten(Ticket.self, ())
        unwritten += try Self.unwritten(KeySetSnapshot.self, ())
        unwritten += try Self.unwritten(SigningKeyRecord.self, ())
        unwritten += try Self.unwritten(HistoryEntry.self, Self.client)
        unwritten += try Self.unwritten(TransferRecord.self, .placeholder)
        unwritten += try Self.unwritten(ReceiverRecord.self, ())
        unwritten += try Self.unwritten(DeliveryRetry.self, ())
        #expect(
            unwritten == [
                "audit_chain.id", "event.subject_id", "event.app_id", "erasure.team_id",
                "erasure_app.erasure_id", "erasure_app.app_id", "erasure_token.erasure_id",
                "erasure_token.client_id", "erasure_token.app_id", "authorization_code.client_id",
                "authorization_code.app_id", "refresh_token.client_id", "refresh_token.app_id",
                "oauth_grant.app_id", "account_history.number", "account_history.app_id", "transfer.team_id",
                "event_retry.receiver",
            ])
    }

    /// Reads a row with another value in each column, and writes the record. No member of the record may be empty,
    /// because a member with a default value needs no column to compile.
    ///
    /// - Returns: The columns that are not written.
    private static func unwritten<Record: StoredRecord>(
        _ type: Record.Type, _ given: Record.Given
    ) throws -> [String] {
        let columns = RecordTable<Record>.declaration.columns
        let table = RecordTable<Record>.placed().table
        var unwritten: [String] = []
        // Two Booleans would hide a swap if both were true.
        for booleans in [false, true] {
            let row = ValueRow(
                columns.enumerated().map { value(of: $1, $0, isTrue: ($0 % 2 == 0) == booleans) })
            let record = try table.record(row, given)
            let copy = ValueRow(columns.map { _ in .null })
            table.write(record, to: copy)
            unwritten = []
            for (place, column) in columns.enumerated() {
                if case .null = copy.values[place] {
                    unwritten.append("\(Record.table).\(column.name)")
                } else {
                    #expect(
                        "\(copy.values[place])" == "\(row.values[place])", "\(Record.table).\(column.name)")
                }
            }
            #expect(emptyMembers(of: record).filter { $0 != "TransferRecord.from" } == [])
        }
        return unwritten
    }

    private static func emptyMembers(of value: Any) -> [String] {
        Mirror(reflecting: value).children.flatMap { label, member -> [String] in
            let mirror = Mirror(reflecting: member)
            if mirror.displayStyle == .optional {
                return mirror.children.first.map { emptyMembers(of: $0.value) }
                    ?? ["\(Swift.type(of: value)).\(label ?? "")"]
            }
            return mirror.displayStyle == .struct ? emptyMembers(of: member) : []
        }
    }

    private static func value(of column: ColumnDeclaration, _ place: Int, isTrue: Bool) -> SQLValue {
        switch column.form {
        case .boolean: return .boolean(isTrue)
        case .uniqueID: return .uniqueID(UniqueID(high: 1, low: UInt64(place)))
        case .integer:
            let hour = Int64(place) * 3_600_000
            switch column.bound {
            case .range(let range) where range.upperBound == 99: return .integer(1)
            case .range(let range): return .integer(min(range.upperBound, max(range.lowerBound, hour)))
            case nil, .nameNumber, .length: return .integer(hour)
            }
        case .text:
            return .text(column.name == "app_id" ? "ABCDE12345.a\(place)" : "a\(place)")
        case .bytes:
            guard case .length(let length) = column.bound else { return .bytes([UInt8(place)]) }
            // The zeros are valid as the time of a token.
            return .bytes([UInt8(place)] + Array(repeating: 0, count: max(length.lowerBound, 1) - 1))
        }
    }
}

private final class ValueRow: WritableRow, ReadableRow {
    var values: [SQLValue]

    init(_ values: [SQLValue]) { self.values = values }

    func set<Value: ColumnValue>(_ column: SQLTables.Column<Value>, _ value: Value?) {
        values[Int(column.place)] = SQLValue(value)
    }

    subscript<Value: ColumnValue>(_ column: SQLTables.Column<Value>) -> Value? {
        Value(cell: ValueCell(value: values[Int(column.place)]))
    }

    func missingValue(in column: any AnyColumn) -> StorageError {
        StorageError(.corrupted, detail: "\(column.name)")
    }
}

private struct ValueCell: ColumnCell {
    let value: SQLValue

    func integer() -> Int64? { if case .integer(let value) = value { value } else { nil } }
    func text() -> String? { if case .text(let value) = value { value } else { nil } }
    func boolean() -> Bool? { if case .boolean(let value) = value { value } else { nil } }
    func uniqueID() -> UniqueID? { if case .uniqueID(let value) = value { value } else { nil } }
    func bytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        if case .bytes(let value) = value { value.withUnsafeBytes(make) } else { nil }
    }
}

@Suite struct KeyDigestTests {
    // printf '\0\0\0\0\0\0\0\1%s' 001234.abc.0567 | sha256sum | cut -c 1-32
    private static let known = "2742a9117543238dd13c3a73d69149a6"

    @Test func `has the value that databases hold`() throws {
        let digest = KeyDigest(team: 1, name: "001234.abc.0567")
        let hexadecimal = digest.data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        #expect(hexadecimal.joined() == Self.known)
        #expect(digest.credentialIDs == 0x2742_a911_7543_0000...0x2742_a911_7543_ffff)
        #expect(digest.check == Int64(bitPattern: 0xd13c_3a73_d691_49a6))
        #expect(KeyDigest(digest.data) == digest)
        #expect(KeyDigest(digest.data + [0]) == nil)
        #expect(KeyDigest(team: 2, name: "001234.abc.0567") != digest)
    }

    @Test(
        arguments: [
            (0x0000_0000_0000_0001, 0...0xffff), (0x7fff_ffff_ffff_0000, Int64.max - 0xffff...Int64.max),
            (0x8000_0000_0000_ffff, Int64.min...Int64.min + 0xffff), (0xffff_ffff_ffff_1234, -0x10000...(-1)),
        ] as [(UInt64, ClosedRange<Int64>)])
    func `has numbers for credentials, whatever it begins with`(high: UInt64, ids: ClosedRange<Int64>) throws
    {
        for low in [0, 1, 1 << 63, UInt64.max] {
            let digest = try #require(KeyDigest(UniqueID(high: high, low: low).data))
            #expect(digest.credentialIDs == ids)
            #expect(digest.check == Int64(truncatingIfNeeded: low))
        }
    }

    @Test(arguments: ["a", "\u{1}7", "Élodie", String(repeating: "x", count: 255)])
    func `is the same in SQL`(name: String) throws {
        let file = try TemporaryDatabase()
        let queue = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        let digest = KeyDigest(team: 7, name: name)
        let row = try queue.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT digest, first_credential_id(digest), last_credential_id(digest), key_check(digest),
                        first_credential_id(NULL), key_check(x'00')
                    FROM (SELECT key_digest(7, ?) AS digest)
                    """,
                arguments: [name])
        }
        let ids = digest.credentialIDs
        #expect(
            row == [
                "digest": digest.data, "first_credential_id(digest)": ids.lowerBound,
                "last_credential_id(digest)": ids.upperBound, "key_check(digest)": digest.check,
                "first_credential_id(NULL)": nil, "key_check(x'00')": nil,
            ])
    }
}

@Suite struct UniqueIDDataTests {
    @Test func `stands in rows as its 16 bytes in their order`() {
        let id = UniqueID(high: 0x0193_A5E0_7C00_7ABC, low: 0x8DEF_0123_4567_89AB)
        #expect(
            Array(id.data) == [
                0x01, 0x93, 0xA5, 0xE0, 0x7C, 0x00, 0x7A, 0xBC, 0x8D, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89,
                0xAB,
            ])
        #expect(UniqueID(id.data) == id)
        #expect(UniqueID(Data([1, 2, 3])) == nil)
    }
}
