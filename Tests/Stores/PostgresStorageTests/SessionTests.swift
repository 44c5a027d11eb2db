import AppleAccounts
import PostgresCluster
import SQLTables
import Testing

@testable import PostgresStorage

@Suite struct SessionTests {
    private static let echo = PostgresStatement(
        "test_echo",
        """
        SELECT $1::bigint, $2::text, $3::bytea, $4::uuid, $5::boolean, $1::bigint::smallint, $1::bigint::integer
        """)

    private static let arrays = PostgresStatement(
        "test_arrays",
        """
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::uuid[], $5::boolean[])
        """)

    private static let divide = PostgresStatement("test_divide", "SELECT 1::bigint / $1::bigint")
    private static let insert = PostgresStatement("test_insert", "INSERT INTO thing (id) VALUES ($1::bigint)")
    private static let count = PostgresCall(PostgresStatement("test_count", "SELECT count(*) FROM thing"))

    private func pool(connections: Int = 1) async throws -> PostgresPool {
        let url = try await PostgresCluster.shared().makeDatabase()
        return PostgresPool(try PostgresURL(url), connections: connections)
    }

    private func poolWithTable() async throws -> PostgresPool {
        let pool = try await pool()
        try await pool.run {
            try $0.execute(script: "CREATE TABLE thing (id bigint PRIMARY KEY)", name: "test")
        }
        return pool
    }

    @Test func `gives values back as they were bound`() async throws {
        let pool = try await pool()
        let id = UniqueID(high: 0x0193_a5e0_7c00_7abc, low: 0x8def_0123_4567_89ab)
        try await pool.run { session throws in
            let rows = try session.run(
                PostgresCall(
                    Self.echo,
                    [
                        .integer(-12_345), .text("a\u{1F600}é"), .bytes([0, 1, 255]), .uuid(id),
                        .boolean(true),
                    ]))
            #expect(rows.count == 1)
            #expect(rows.integer(0, 0) == -12_345)
            #expect(rows.text(0, 1) == "a\u{1F600}é")
            #expect(rows.bytes(0, 2) == [0, 1, 255])
            #expect(rows.uuid(0, 3) == id)
            #expect(rows.boolean(0, 4) == true)
            #expect(rows.integer(0, 5) == -12_345)
            #expect(rows.integer(0, 6) == -12_345)
            let nulls = try session.run(
                PostgresCall(Self.echo, [.null, .null, .null, .null, .null]))
            #expect(nulls.integer(0, 0) == nil && nulls.text(0, 1) == nil && nulls.bytes(0, 2) == nil)
            #expect(nulls.uuid(0, 3) == nil && nulls.boolean(0, 4) == nil)
            let empty = try session.run(
                PostgresCall(Self.echo, [.integer(.max >> 48), .text(""), .bytes([]), .null, .null]))
            #expect(empty.text(0, 1) == "")
            #expect(empty.bytes(0, 2) == [])
        }
        await pool.close()
    }

    private static func byteStrings(_ values: [[UInt8]?]) -> PostgresValue {
        var array = PostgresArray(of: PostgresType.bytes)
        for value in values { array.append(value) }
        return .array(array)
    }

    @Test func `writes rows of two sets, with NULL for what a row does not set`() async throws {
        let pool = try await pool()
        var first = RowParameters()
        let number = first.add("number", Int64.self)
        let text = first.add("text", String.self)
        var second = RowParameters(after: first)
        let isTrue = second.add("is_true", Bool.self)
        let absent = Column<String>("absent", place: Column<String>.absent)
        let statement = RowStatement(
            "test_rows", second,
            """
            SELECT a.*, b.is_true FROM \(first.unnest) WITH ORDINALITY AS a (number, text, place)
            LEFT JOIN \(second.unnest) WITH ORDINALITY AS b (is_true, place) ON a.place = b.place
            ORDER BY a.place
            """)
        let call = statement.call { values in
            values.add([(1, nil), (nil, "b"), (3, "c")] as [(Int64?, String?)]) { item, row in
                row.set(number, item.0)
                row.set(text, item.1)
                row.set(absent, "left out")
            }
            values.add([true]) { value, row in row.set(isTrue, value) }
        }
        try await pool.run { session throws in
            let rows = try session.run(call)
            #expect((0..<3).map { rows.integer($0, 0) } == [1, nil, 3])
            #expect((0..<3).map { rows.text($0, 1) } == [nil, "b", "c"])
            #expect((0..<3).map { rows.boolean($0, 3) } == [true, nil, nil])
        }
        await pool.close()
    }

    @Test func `binds arrays with NULLs, without elements and with many`() async throws {
        let pool = try await pool()
        let id = UniqueID(high: 1, low: 2)
        try await pool.run { session throws in
            let rows = try session.run(
                PostgresCall(
                    Self.arrays,
                    [
                        Int64.array([1, nil, .min]), String.array(["a", "", nil]),
                        Self.byteStrings([nil, [7], []]), UniqueID.array([id, nil, id]),
                        Bool.array([true, false, nil]),
                    ]))
            #expect((0..<3).map { rows.integer($0, 0) } == [1, nil, .min])
            #expect((0..<3).map { rows.text($0, 1) } == ["a", "", nil])
            #expect((0..<3).map { rows.bytes($0, 2) } == [nil, [7], []])
            #expect((0..<3).map { rows.uuid($0, 3) } == [id, nil, id])
            #expect((0..<3).map { rows.boolean($0, 4) } == [true, false, nil])
            let none = try session.run(
                PostgresCall(
                    Self.arrays,
                    [
                        Int64.array([]), String.array([]), Self.byteStrings([]), UniqueID.array([]),
                        Bool.array([]),
                    ]))
            #expect(none.count == 0)
            let many = try session.run(
                PostgresCall(
                    Self.arrays,
                    [
                        Int64.array((0..<10_000).map { $0 }), String.array([]), Self.byteStrings([]),
                        UniqueID.array([]), Bool.array([]),
                    ]))
            #expect(many.count == 10_000)
            #expect(many.integer(9_999, 0) == 9_999)
        }
        await pool.close()
    }

    /// Sends more than the buffers of both sockets hold in both directions: a client that only sends and then
    /// only reads would hang.
    @Test func `sends and receives much more than fits in between`() async throws {
        let pool = try await pool()
        try await pool.run { session throws in
            let text = String(repeating: "x", count: 1 << 20)
            let call = PostgresCall(Self.echo, [.integer(1), .text(text), .null, .null, .null])
            let responses = try session.pipeline(Array(repeating: call, count: 40))
            #expect(responses.count == 40)
            #expect(responses.allSatisfy { $0.text(0, 1)?.utf8.count == 1 << 20 })
        }
        await pool.close()
    }

    @Test func `runs nothing of a pipeline when one of it fails, and goes on`() async throws {
        let pool = try await poolWithTable()
        try await pool.run { session throws in
            let calls = [
                PostgresCall(Self.insert, [.integer(1)]), PostgresCall(Self.divide, [.integer(0)]),
                // Prepared for the first time behind the failure, so not prepared at all.
                Self.count, PostgresCall(Self.insert, [.integer(2)]),
            ]
            let error = #expect(throws: PostgresError.self) { _ = try session.pipeline(calls) }
            #expect(error?.sqlState == "22012")
            #expect(!session.isInTransaction)
            #expect(try session.run(Self.count).integer(0, 0) == 0)
            #expect(try session.run(PostgresCall(Self.divide, [.integer(1)])).integer(0, 0) == 1)
            #expect(try session.run(PostgresCall(Self.insert, [.integer(2)])).affected == 1)
        }
        await pool.close()
    }

    @Test func `commits in the pipeline of the last writes, and not after a failure`() async throws {
        let pool = try await poolWithTable()
        try await pool.run { session throws in
            _ = try session.pipeline([.begin, Self.count])
            _ = try session.pipeline([PostgresCall(Self.insert, [.integer(1)]), .commit])
            #expect(!session.isInTransaction)
            _ = try session.pipeline([.begin, Self.count])
            let error = #expect(throws: PostgresError.self) {
                _ = try session.pipeline([PostgresCall(Self.insert, [.integer(1)]), .commit])
            }
            #expect(error?.sqlState == "23505")
            #expect(error?.isWorthRepeating == true)
            // Answered with ROLLBACK and no error by PostgreSQL.
            let late = #expect(throws: PostgresError.self) { _ = try session.run(.commit) }
            #expect(late?.sqlState == "25P02")
            #expect(try session.run(Self.count).integer(0, 0) == 1)
        }
        await pool.close()
    }

    @Test func `rolls back what a block leaves open`() async throws {
        struct Bang: Error {}
        let pool = try await poolWithTable()
        try await pool.run { session throws in
            _ = try session.pipeline([.begin, PostgresCall(Self.insert, [.integer(1)])])
        }
        await #expect(throws: Bang.self) {
            try await pool.run { session throws in
                _ = try session.pipeline([.begin, PostgresCall(Self.insert, [.integer(2)])])
                throw Bang()
            }
        }
        #expect(try await pool.run { try $0.run(Self.count).integer(0, 0) } == 0)
        await pool.close()
    }

    @Test func `refuses a text with a NUL in it, and not the connection`() async throws {
        let pool = try await pool()
        await #expect(throws: StorageError(.valueRefused, detail: "")) {
            try await pool.run {
                try $0.run(PostgresCall(Self.echo, [.null, .text("a\u{0}b"), .null, .null, .null])).count
            }
        }
        let values: [PostgresValue] = [.integer(1), .null, .null, .null, .null]
        #expect(try await pool.run { try $0.run(PostgresCall(Self.echo, values)).count } == 1)
        await pool.close()
    }

    @Test func `shows no value in what it says of a refusal`() async throws {
        let pool = try await poolWithTable()
        let script = "ALTER TABLE thing ADD COLUMN name text UNIQUE CHECK (length(name) < 9)"
        try await pool.run { try $0.execute(script: script, name: "test") }
        let statement = PostgresStatement(
            "test_name", "INSERT INTO thing (id, name) VALUES ($1::bigint, $2::text)")
        for (id, name) in [(1, "secret"), (2, "secret"), (3, "secret-but-long")] {
            do {
                let call = PostgresCall(statement, [.integer(Int64(id)), .text(name)])
                try await pool.run { _ = try $0.run(call) }
                #expect(id == 1)
            } catch let error as StorageError {
                #expect(error.code == .valueRefused)
                #expect(!error.debugDescription.contains("secret"))
            }
        }
        await pool.close()
    }

    @Test func `sets every session up, and what the role or the URL wants stays`() async throws {
        let shared = try await PostgresCluster.shared()
        let url = try await shared.makeDatabase()
        let show = PostgresCall(
            PostgresStatement(
                "test_show",
                """
                SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                    current_setting('idle_in_transaction_session_timeout'),
                    current_setting('synchronous_commit'), current_setting('application_name')
                """))
        func settings(_ url: String) async throws -> [String?] {
            let pool = PostgresPool(try PostgresURL(url), connections: 1)
            let settings = try await pool.run { session throws in
                let rows = try session.run(show)
                return (0..<5).map { rows.text(0, $0) }
            }
            await pool.close()
            return settings
        }
        #expect(try await settings(url) == ["5s", "3s", "10s", "on", "siwa"])
        let options =
            "?options=-c%20statement_timeout%3D7s%20-c%20synchronous_commit%3Doff&application_name=other"
        #expect(try await settings(url + options) == ["7s", "3s", "10s", "on", "other"])
        let database = url.split(separator: "/").last.map(String.init) ?? ""
        try await shared.superuserQuery("ALTER DATABASE \(database) SET lock_timeout = '9s'")
        try await shared.superuserQuery("ALTER DATABASE \(database) SET synchronous_commit = off")
        #expect(try await settings(url) == ["5s", "9s", "10s", "on", "siwa"])
    }
}
