import PostgresStorage
import Testing

@testable import siwa

@Suite struct DatabaseLocationTests {
    @Test(arguments: [
        ("postgres://db.example.com/siwa", "siwa at db.example.com"),
        ("postgresql://siwa:secret@db.example.com:5433/siwa", "siwa at db.example.com:5433"),
        ("postgres://siwa:secret@a,b/siwa?target_session_attrs=read-write", "siwa at a, b"),
        ("postgres://a:1,b:2/siwa", "siwa at a:1, b:2"),
        ("postgres://a,b:2/siwa", "siwa at a, b:2"),
        ("postgres://siwa:s%40cr%2Fet@h/siwa", "siwa at h"),
        ("postgres://[2001:db8::1]:5433/siwa", "siwa at 2001:db8::1:5433"),
        ("postgres:///siwa?host=/run/postgresql", "siwa at /run/postgresql"),
        ("postgres://%2Frun%2Fpostgresql/siwa", "siwa at /run/postgresql"),
        ("postgres:///siwa", "siwa at a local socket"), ("postgres://", "a local socket"),
        ("postgres://h/siwa?password=secret&sslmode=verify-full&sslrootcert=/ca.pem", "siwa at h"),
        ("postgres://h/siwa?options=-c%20statement_timeout%3D1s&connect_timeout=3", "siwa at h"),
    ])
    func `accepts every form of libpq, and shows only the location`(url: String, place: String) throws {
        let location = try DatabaseLocation(url: url)
        guard case .postgres(let address) = location else {
            Issue.record("another kind of database")
            return
        }
        #expect(address.text == url)
        #expect(location.place == place)
        #expect(!"\(location) \(address)".contains("secret"))
    }

    @Test(
        arguments: [
            ("postgres://h:port/siwa", .malformed),
            ("postgres://h:0/siwa", .optionMalformed("port")),
            ("postgres://h:99999/siwa", .optionMalformed("port")),
            ("postgres://h/siwa?sslmode=strict", .optionMalformed("sslmode")),
            ("postgres://h/siwa?connect_timeout=soon", .optionMalformed("connect_timeout")),
            ("postgres://h/siwa?target_session_attrs=master", .optionMalformed("target_session_attrs")),
            ("postgres://h/siwa?sslmoed=require", .malformed), ("postgres://h/siwa?user", .malformed),
            ("postgres://[::1/siwa", .malformed), ("postgres://h%zz/siwa", .malformed),
            // Passwords that are not escaped: a part of them must not become a host name.
            ("postgres://siwa:se@cret@h/siwa", .malformed), ("postgres://siwa:se/cret@h/siwa", .malformed),
            ("postgres://siwa:12/34@h/siwa", .malformed),
        ] as [(String, PostgresAddress.Refusal)])
    func `refuses what libpq would refuse, without repeating it`(
        url: String, refusal: PostgresAddress.Refusal
    ) {
        #expect(throws: DatabaseLocation.Refusal.postgres(refusal)) { try DatabaseLocation(url: url) }
    }

    @Test(arguments: ["mysql://h/siwa", "siwa.sqlite", "", "POSTGRES://h/siwa"])
    func `refuses other databases`(url: String) {
        #expect(throws: DatabaseLocation.Refusal.unknownScheme) { try DatabaseLocation(url: url) }
    }

    @Test(arguments: ["0", "101", "-1", "many", "8.5"])
    func `the number of connections is limited`(number: String) async throws {
        let mistakes = try await SettingsReaderTests.mistakes([
            "SIWA_DATABASE_CONNECTIONS": number, "DATABASE_URL": "postgres://h:x/siwa",
        ])
        #expect(mistakes == ["DATABASE_URL", "SIWA_DATABASE_CONNECTIONS"])
    }

    @Test func `the number of connections is read`() async throws {
        let settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging(["SIWA_DATABASE_CONNECTIONS": "3"]) { $1 })
        #expect(settings.numbers[.databaseConnections] == 3)
        #expect(
            try await SettingsReaderTests.read(SettingsReaderTests.minimal).numbers[.databaseConnections] == 8
        )
    }
}
