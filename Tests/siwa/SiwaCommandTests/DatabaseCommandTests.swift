import AppleAccounts
import Foundation
import PostgresStorage
import SiwaBinary
import TestSupport
import Testing

@testable import Composition
@testable import siwa

/// Commands that need the database need no other part of the configuration.
@Suite(.timeLimit(.hung)) struct DatabaseCommandTests {
    private static let commands = [
        ["audit", "verify"], ["audit", "tail"], ["audit", "export"], ["deliveries", "resume", "backend"],
        ["deliveries", "replay", "backend", "--since", "2026-01-01T00:00:00Z"],
    ]

    /// Runs a command in a directory with a database and these files.
    private static func run(
        _ arguments: [String], _ environment: [String: String], files: [String: String] = [:]
    ) async throws -> ProgramRun {
        try await SigningKeySettingsTests.withDirectory(files) { directory in
            try await StoredAccounts.with(directory) { store in
                _ = try await store.noteConfiguration(["setting SIWA_PORT": "ab"], at: StoredAccounts.now)
                try await store.addReceivers([#require(ReceiverName("backend"))], at: StoredAccounts.now)
            }
            return try await ProgramRun.of(
                BuiltSiwa.url(), arguments, environment: environment, in: directory, keepsOutput: true)
        }
    }

    @Test(arguments: commands)
    func `the location of the database is enough`(arguments: [String]) async throws {
        try await Self.run(arguments, ["DATABASE_URL": "sqlite://siwa.sqlite"]).checked()
    }

    @Test(arguments: [
        "database_url: sqlite://siwa.sqlite\n",
        // Mistakes that are not about the database.
        "database_url: sqlite://siwa.sqlite\nteams:\n  - team_id: no\nsiwa_prt: 1\n",
    ])
    func `the file with the location is enough`(file: String) async throws {
        let run = try await Self.run(
            ["audit", "verify"], ["SIWA_CONFIG": "siwa.yaml", "SIWA_PORT": "no port"],
            files: ["siwa.yaml": file]
        ).checked()
        #expect(run.output.contains("as it was written: rows 1 to"))
    }

    @Test func `a file is not read where the environment has the location`() async throws {
        // Nor is an unknown name a mistake, which is nearest to one of the two.
        try await Self.run(
            ["audit", "verify"],
            ["DATABASE_URL": "sqlite://siwa.sqlite", "SIWA_CONFIG": "missing.yaml", "SIWA_LOCKED": "1"]
        ).checked()
    }

    @Test(arguments: [
        (["DATABASE_URL": "mysql://localhost/siwa"], "DATABASE_URL: must be sqlite:"),
        (["DATABASE_URL": "'sqlite://siwa.sqlite'"], "DATABASE_URL: has quotes"),
        (["SIWA_CONFIG": "missing.yaml"], "SIWA_CONFIG: "),
        (["SIWA_CONFIG": "wrong.yaml"], "did you mean database_url?"),
        (["SIWA_CONFG": "siwa.yaml"], "SIWA_CONFG: is not known; did you mean SIWA_CONFIG?"),
        (["SIWA_DATABASE_URL": "sqlite://x"], "SIWA_DATABASE_URL: is not known; did you mean DATABASE_URL?"),
    ])
    func `a location that is wrong is named, with the status of a wrong configuration`(
        environment: [String: String], words: String
    ) async throws {
        for arguments in Self.commands {
            let run = try await Self.run(
                arguments, environment, files: ["wrong.yaml": "databas_url: sqlite://siwa.sqlite\n"])
            #expect(run.status == 78, "\(run.output)")
            #expect(run.output.contains(words), "\(run.output)")
            // Nothing else is asked for.
            #expect(!run.output.contains("API_KEY") && !run.output.contains("APPLE_"))
        }
    }

    @Test func `without a location the usual file is looked for, and a missing one is named`() async throws {
        let run = try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await ProgramRun.of(
                BuiltSiwa.url(), ["audit", "verify"], environment: [:], in: directory, keepsOutput: true)
        }
        #expect(run.status == 1)
        #expect(run.output.contains("There is no database at ") && run.output.contains("siwa.sqlite"))
    }
}

@Suite(.timeLimit(.hung)) struct MissingDatabaseTests {
    static let environment = [
        "DATABASE_URL": "sqlite://siwa.sqlite", "SIWA_SEALING_KEYS": "a=\(SealingSettingsTests.first)",
        // No server listens there.
        "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:9",
    ].merging(SettingsReaderTests.minimal) { $1 }

    @Test(arguments: [
        ["reseal"], ["reseal", "--dry-run"], ["transfer", "apply", "in"],
        ["transfer", "apply", "in", "--dry-run"],
        ["transfer", "prepare", "out", "--to", RunningApple.otherTeam],
        ["transfer", "prepare", "out", "--to", RunningApple.otherTeam, "--dry-run"],
    ])
    func `a command reports a missing database and does not create one`(arguments: [String]) async throws {
        for files in [["in": ""], ["in": "", "siwa.sqlite": ""]] {
            try await SigningKeySettingsTests.withDirectory(files) { directory in
                let command = try await CommandProcess.run(arguments, Self.environment, in: directory)
                #expect(command.status == 1)
                let path = "\(URL(fileURLWithPath: directory).resolvingSymlinksInPath().path)/siwa.sqlite"
                #expect(command.output.contains("There is no database at \(path)."))
                #expect(command.output.split(separator: "\n").count == 1)
                let left = try FileManager.default.contentsOfDirectory(atPath: directory)
                #expect(Set(left) == Set(files.keys))
                for name in left {
                    #expect(FileManager.default.contents(atPath: "\(directory)/\(name)") == Data())
                }
            }
        }
    }

    @Test func `a database that this user may not read is not called missing`() {
        let error = MissingDatabase(location: .sqlite(path: "/var/lib/siwa/siwa.sqlite"), isForbidden: true)
        #expect(error.description.hasPrefix("This user may not read /var/lib/siwa/siwa.sqlite."))
    }

    @Test func `a shell without the service's variables gets the line that has them`() throws {
        let advice = try #require(
            ServiceVariables.advice(
                ["transfer", "apply", "a b"], environment: ["PATH": "x"], isInstalled: true))
        #expect(advice.contains("systemd alone reads /etc/siwa/siwa.env"))
        #expect(
            advice.hasSuffix("--working-directory=/var/lib/siwa siwa transfer apply 'a b'"))
        #expect(ServiceVariables.advice([], environment: ["DATABASE_URL": ""], isInstalled: true) == nil)
        #expect(ServiceVariables.advice([], environment: [:], isInstalled: false) == nil)
    }

    @Test func `a second sealing key of one name is refused with the option that gives another`() async throws
    {
        let keys = ["SIWA_SEALING_KEYS": "b=\(SealingSettingsTests.second), a=\(SealingSettingsTests.first)"]
        let command = try await CommandProcess.run(["sealing-key", "--name", "a"], keys, in: "/tmp")
        #expect(command.status == 64 && command.output.contains("--name"))
        let other = try await CommandProcess.run(["sealing-key", "--name", "c"], keys, in: "/tmp")
        #expect(other.status == 0)
    }

    @Test func `an existing database is resealed`() async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await StoredAccounts.with(directory) { _ in }
            let command = try await CommandProcess.run(["reseal"], Self.environment, in: directory)
            #expect(command.status == 0)
        }
    }

    @Test func `a directory is not a database, but a link to one is`() async throws {
        try await SigningKeySettingsTests.withDirectory(["file": "x"]) { directory in
            await #expect(throws: MissingDatabase.self) {
                try await DatabaseLocation.sqlite(path: directory).checkPresence()
            }
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/link", withDestinationPath: "\(directory)/file")
            try await DatabaseLocation.sqlite(path: "\(directory)/link").checkPresence()
        }
    }
}

@Suite struct DatabaseLocationTests {
    @Test(arguments: [
        ("postgres://db.example.com/siwa", "siwa at db.example.com"),
        ("postgresql://siwa:secret@db.example.com:5433/siwa", "siwa at db.example.com:5433"),
        ("postgres://siwa:secret@a,b/siwa?target_session_attrs=read-write", "siwa at a, b"),
        ("postgres://a:1,b:2/siwa", "siwa at a:1, b:2"), ("postgres://a,b:2/siwa", "siwa at a, b:2"),
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
            ("postgres://h:port/siwa", .malformed), ("postgres://h:0/siwa", .optionMalformed("port")),
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
    ) { #expect(throws: DatabaseLocation.Refusal.postgres(refusal)) { try DatabaseLocation(url: url) } }

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
        let settings = try await SettingsReaderTests.read(with: ["SIWA_DATABASE_CONNECTIONS": "3"])
        #expect(settings.numbers[.databaseConnections] == 3)
        #expect(try await SettingsReaderTests.read().numbers[.databaseConnections] == 8)
    }
}
