import AppleEmulator
import Encodings
import Foundation
import GoogleEmulator
import HTTPAPI
import NIOCore
import NIOHTTP1
import PostgresCluster
import SiwaBinary
import StrictJSON
import TestSupport
import Testing

/// An operator who knows only that sign-ins fail for some opens the console. Each cause is the first of what is
/// wrong there, within two minutes after the first user has met it.
@Suite(.serialized, .timeLimit(.hung)) struct FaultNamingTests {
    private static func seconds(since begin: ContinuousClock.Instant) -> String {
        String(format: "%.1f", (ContinuousClock.now - begin) / .seconds(1))
    }

    /// Waits until the console names the trouble first. Prints how long it took.
    private static func names(_ trouble: String, _ fault: String, at console: ConsoleOperator) async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        var found: [String] = []
        while clock.now - begin < .seconds(120) {
            let page = try await console.overview()
            found = page.troubles
            guard found.first != trouble else {
                print("console: \(fault) named after \(seconds(since: begin)) s")
                return
            }
            try await Task.sleep(for: .milliseconds(250))
        }
        Issue.record("\(fault): the console named \(found) and not \(trouble)")
    }

    /// Waits until the console has looked at everything that it can look at, and has found nothing.
    private static func isFine(_ console: ConsoleOperator) async throws {
        try await eventually {
            let page = try await console.overview()
            return page.status == 200 && page.troubles.isEmpty && !page.text.contains("Not known yet: Apple")
        }
    }

    /// Runs a service with a console beside the fake Apple and the fake Google.
    private static func with(
        _ store: ObservedDatabase.Store, _ more: [String: String] = [:], yaml: String = "",
        before: @Sendable (LinkedSystem) throws -> Void = { _ in },
        _ body: @Sendable (LinkedSystem, ServiceProcess, ConsoleOperator) async throws -> Void
    ) async throws {
        try await LinkedSystem.with(store) { system in
            try before(system)
            let console = try ConsoleOperator(in: system.directory, with: LinkedClients.configuration + yaml)
            let replica = try await system.serve(0, console.variables.merging(more) { $1 })
            try await body(system, replica, console)
            #expect(await replica.stop() == 0)
        }
    }

    /// A new user signs in.
    private static func status(_ system: LinkedSystem, _ replica: ServiceProcess) async throws -> UInt {
        try await replica.backend.signIn(try await system.identityToken()).status
    }

    // MARK: What every sign-in needs

    @Test func `Apple's keys that cannot be fetched are named`() async throws {
        try await Self.with(.sqlite) { system, replica, console in
            #expect(try await Self.status(system, replica) == 201)
            try await Self.isFine(console)
            var fault = EndpointFault()
            fault.cut = .beforeWork
            system.apple.state.setFault(fault, on: .keys)
            // Tokens of the new key fail, and those of the old key do not.
            _ = try await system.apple.state.addKey(keyID: nil, isPublished: true, signs: true)
            try await eventually { try await Self.status(system, replica) >= 400 }
            try await Self.names("keys_unreachable", "Apple's keys unreachable", at: console)
        }
    }

    @Test func `a full disk under SQLite is named`() async throws {
        try await TemporaryDirectory.with { directory in
            let disk = try FaultyDisk(in: directory)
            try await Self.with(.sqlite, disk.variables) { system, replica, console in
                try await Self.isFine(console)
                try disk.set(.full)
                #expect(try await Self.status(system, replica) == 503)
                try await Self.names("database_full", "database full (SQLite)", at: console)
                try disk.set(.none)
            }
        }
    }

    @Test func `a full PostgreSQL is named`() async throws {
        try await Self.with(.postgres) { system, replica, console in
            try await Self.isFine(console)
            let names = try await system.database.query(
                "SELECT string_agg(quote_ident(tablename), ',') FROM pg_tables WHERE tableowner = 'siwa'")
            try await system.database.query(
                """
                CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END
                $$;
                """
                    + names.split(separator: ",").map {
                        "CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON \($0) EXECUTE FUNCTION full_disk();"
                    }.joined())
            #expect(try await Self.status(system, replica) == 503)
            try await Self.names("database_full", "database full (PostgreSQL)", at: console)
            try await system.database.query("DROP FUNCTION full_disk CASCADE")
        }
    }

    @Test func `a locked SQLite file is named`() async throws {
        try await Self.with(.sqlite) { system, replica, console in
            #expect(try await Self.status(system, replica) == 201)
            try await Self.isFine(console)
            let transaction = try ForeignTransaction(on: system.directory.path(of: "siwa.sqlite"))
            #expect(try await Self.status(system, replica) == 503)
            try await Self.names("database_locked", "database locked (SQLite)", at: console)
            transaction.end()
        }
    }

    @Test func `a locked table of PostgreSQL is named`() async throws {
        try await Self.with(.postgres) { system, replica, console in
            #expect(try await Self.status(system, replica) == 201)
            try await Self.isFine(console)
            let holder = Task {
                try await system.database.query("BEGIN; LOCK TABLE credential; SELECT pg_sleep(300)")
            }
            try await eventually {
                try await system.database.query(
                    "SELECT count(*) FROM pg_locks WHERE relation = 'credential'::regclass AND granted")
                    == "1"
            }
            #expect(try await Self.status(system, replica) == 503)
            try await Self.names("database_locked", "database locked (PostgreSQL)", at: console)
            try await system.database.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LOCK TABLE%pg_sleep%' "
                    + "AND pid <> pg_backend_pid()")
            _ = try? await holder.value
        }
    }

    @Test func `a lost standby is named`() async throws {
        let primary = try await PostgresCluster.start(fsync: false)
        let url = try await primary.makeDatabase()
        try await Self.with(.sqlite, ["DATABASE_URL": url]) { system, replica, console in
            #expect(try await Self.status(system, replica) == 201)
            try await Self.isFine(console)
            try await primary.setSynchronousStandbys("lost")
            try await eventually {
                try await primary.superuserQuery("SHOW synchronous_standby_names") == "lost"
            }
            #expect(try await Self.status(system, replica) == 503)
            try await Self.names("standby_lost", "standby lost", at: console)
            try await primary.setSynchronousStandbys("")
        }
        try await primary.remove()
    }

    @Test func `a clock that is ten minutes slow is named`() async throws {
        // All of Apple is ahead.
        try await Self.with(
            .sqlite, before: { try $0.apple.state.advanceClock(bySeconds: 600) }
        ) { system, replica, console in
            #expect(try await Self.status(system, replica) == 401)
            try await Self.names("clock_wrong", "clock 10 minutes slow", at: console)
            #expect(try await console.overview().text.contains("10 minutes slow"))
        }
    }

    @Test func `a clock that begins to differ while the service runs is named`() async throws {
        try await Self.with(.sqlite) { system, replica, console in
            #expect(try await Self.status(system, replica) == 201)
            try await Self.isFine(console)
            try system.apple.state.advanceClock(bySeconds: 600)
            // Apple's next response says what time it is: that to the fetch of a new key. One of two tokens has it.
            _ = try await system.apple.state.addKey(keyID: nil, isPublished: true, signs: true)
            for _ in 0..<20 { #expect(try await Self.status(system, replica) == 401) }
            try await Self.names("clock_wrong", "clock moved by 10 minutes", at: console)
        }
    }

    // MARK: What some of the users need

    @Test func `a wrong sealing key is named`() async throws {
        try await Relation.with { relation in
            let console = try ConsoleOperator(in: relation.directory)
            let (first, backend) = try await relation.serve(console.variables)
            let user = try relation.apple.makeUser(UserRecipe())
            #expect(try await relation.signIn(user, at: backend).status == 201)
            try await Self.keepsToken(relation)
            #expect(await first.stop() == 0)
            let other = ServiceProcess.sealingKey()
            let (second, _) = try await relation.serve(
                console.variables.merging(["SIWA_SEALING_KEYS": other]) { $1 })
            try await Self.names("sealing_key_wrong", "sealing key wrong", at: console)
            // The service is ready, as after the restore of a backup from before a rotation, and says so.
            let check = try await BuiltSiwa.run(["healthcheck", "--url", second.url], in: relation.directory)
            #expect(check.status == 0)
            #expect(check.output.contains("stored tokens do not open: SIWA_SEALING_KEYS lacks the key"))
            #expect(await second.stop() == 0)
        }
    }

    @Test func `keys that sign tokens and do not open are named`() async throws {
        try await LinkedSystem.with(.sqlite) { system in
            let console = try ConsoleOperator(in: system.directory, with: LinkedClients.configuration)
            let first = try await system.serve(0, console.variables)
            #expect(await first.stop() == 0)
            let other = ServiceProcess.sealingKey()
            let second = try await system.serve(
                0, console.variables.merging(["SIWA_SEALING_KEYS": other]) { $1 })
            try await Self.names("signing_keys_shut", "signing keys shut", at: console)
            #expect(await second.stop() == 0)
        }
    }

    @Test func `a receiver that takes no event is named`() async throws {
        let yaml = "\nwebhooks: [{name: shop-hook, url: \"http://127.0.0.1:9/\", audience: billing}]\n"
        try await Self.with(.sqlite, yaml: yaml) { system, replica, console in
            try await Self.isFine(console)
            #expect(try await Self.status(system, replica) == 201)
            try await eventually {
                try await system.database.query("SELECT count(*) > 0 FROM event_retry") == "1"
            }
            // As five minutes later.
            try await system.database.query("UPDATE event_retry SET waiting_since = waiting_since - 300000")
            try await Self.names("receiver_late", "receiver down", at: console)
        }
    }

    @Test func `notifications that do not arrive are named`() async throws {
        try await Relation.with { relation in
            let console = try ConsoleOperator(in: relation.directory)
            let (first, firstBackend) = try await relation.serve(console.variables)
            let user = try relation.apple.makeUser(UserRecipe())
            #expect(try await relation.signIn(user, at: firstBackend).status == 201)
            try await Self.keepsToken(relation)
            #expect(await first.stop() == 0)
            // Apple has no address for its notifications.
            _ = try await relation.apple.notifications(of: .revokeConsent, by: user)
            // The next check of each token is in the past, as a day later.
            try await OperatorTool.sqlite(
                "UPDATE refresh_token SET next_check_at = 1", in: relation.directory)
            let (service, backend) = try await relation.serve(console.variables)
            try await eventually {
                try await relation.credential(of: user, at: backend)?["state"] == "revoked"
            }
            try await Self.names("notifications_silent", "notifications silent", at: console)
            #expect(await service.stop() == 0)
        }
    }

    /// Waits until the service has exchanged the user's code.
    private static func keepsToken(_ relation: Relation) async throws {
        try await eventually {
            try await OperatorTool.sqlite("SELECT count(*) FROM refresh_token", in: relation.directory) == "1"
        }
    }

    @Test func `a Google that refuses reports is named`() async throws {
        try await Self.with(.sqlite) { system, replica, console in
            let user = try system.makeUser()
            _ = try await replica.link(.token(try await system.identityToken(of: user)))
            try await Self.isFine(console)
            var fault = GoogleFault()
            fault.status = 400
            system.google.setFault(fault, at: .report)
            let payload = try await system.revocation(of: user)
            #expect(try await replica.backend.notify(payload).status == 200)
            try await Self.names("google_refusing", "Google refusing", at: console)
        }
    }

    @Test(arguments: ["a backend", "an OAuth client"])
    func `a client that hammers is named`(client: String) async throws {
        try await Self.with(.sqlite) { _, replica, console in
            for _ in 0..<120 {
                if client == "a backend" {
                    _ = try await replica.backend.signIn("nonsense")
                } else {
                    _ = try await replica.refresh("nonsense")
                }
            }
            try await Self.names("client_hammering", "\(client) hammering", at: console)
        }
    }

    @Test func `a person who stopped using the app is named`() async throws {
        try await Self.with(.sqlite) { system, replica, console in
            let user = try system.makeUser()
            #expect(try await replica.backend.signIn(try await system.identityToken(of: user)).status == 201)
            try await Self.isFine(console)
            #expect(try await replica.backend.notify(try await system.revocation(of: user)).status == 200)
            try await Self.names("people_revoked", "one person revoked", at: console)
        }
    }
}

/// An operator at the console of a service in production, on its own port.
struct ConsoleOperator: Sendable {
    static let secret = "siwa_console_operator"

    let console: ConsoleVisitor
    /// Settings of a service with this console.
    let variables: [String: String]

    struct Page {
        let status: UInt
        let text: String

        /// The kinds of what is wrong, the most urgent first.
        var troubles: [String] { text.matches(of: /data-trouble="(\w+)"/).map { String($0.1) } }
    }

    /// - Parameter yaml: The rest of the service's configuration file.
    init(in directory: TemporaryDirectory, with yaml: String = "") throws {
        let port = try FreePort.find()
        console = ConsoleVisitor(root: "http://127.0.0.1:\(port)")
        variables = [
            "SIWA_CONSOLE_PORT": "\(port)",
            "SIWA_CONFIG": try directory.write(Self.keys(Self.secret) + yaml, to: "console.yaml"),
        ]
    }

    /// The lines of a configuration with the key of an operator.
    static func keys(_ secret: String) -> String {
        """
        api_keys:
          - name: olga
            hash: \(Hexadecimal.encode(APIKeySecret.hash(secret)))
            roles: [operator]

        """
    }

    /// Signs in, and opens the overview. Without a session the result is the page that the sign-in gets.
    func overview() async throws -> Page {
        var page = try await console.send(.POST, "/console/sign-in", [("key", Self.secret)])
        if let cookie = page.cookie {
            page = try await console.send(.GET, "/console/overview", cookie: cookie)
        }
        return Page(status: page.status, text: page.text)
    }
}
