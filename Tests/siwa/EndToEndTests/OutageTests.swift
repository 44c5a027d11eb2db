import AppleEmulator
import Encodings
import Foundation
import KeySets
import PostgresCluster
import StrictJSON
import TestSupport
import Testing

/// Apple is down, slow or sends wrong responses.
@Suite struct OutageTests {
    @Test func `a restart during an outage uses the stored keys at once`() async throws {
        try await WholeSystem.withApple { emulator, directory in
            let token = try await emulator.state.mint(IdentityTokenRecipe()).identityToken
            try await WholeSystem.withService(emulator, directory) { backend in
                let first = try await backend.signIn(token)
                #expect(first.status == 201)
            }
            emulator.state.setFault(.hangingUp, on: .keys)
            emulator.state.clearCounters()
            try await WholeSystem.withService(emulator, directory, waitsForKeys: false) { backend in
                // The very first request after the port is bound.
                let ready = try await backend.get("/readyz")
                #expect(ready.status == 200)
                let response = try await backend.signIn(token)
                #expect(response.status == 200)
            }
        }
    }

    @Test func `a first start during an outage is not ready, refuses no token, and recovers`() async throws {
        try await WholeSystem.withApple { emulator, directory in
            emulator.state.setFault(.hangingUp, on: .keys)
            let token = try await emulator.state.mint(IdentityTokenRecipe()).identityToken
            try await WholeSystem.withService(emulator, directory, waitsForKeys: false) { backend in
                #expect(try await backend.get("/readyz").code == "keys_unavailable")
                #expect(try await backend.get("/livez").status == 200)
                let refused = try await backend.verify(token)
                #expect(refused.status == 503)
                #expect(refused.code == "keys_unavailable")
                emulator.state.clearFaults()
                try await eventually { try await backend.get("/readyz").status == 200 }
                #expect(try await backend.verify(token).status == 200)
            }
        }
    }

    @Test(arguments: [FaultBody.html, .empty, .oversized, .malformed, .unrelated, .noKeys, .unusableKeys])
    func `a wrong response never replaces a good set`(body: FaultBody) async throws {
        let bounds = KeySetBounds(lookUpCooldown: 1)
        try await WholeSystem.with(bounds: bounds) { system in
            let token = try await system.apple.mint(IdentityTokenRecipe()).identityToken
            #expect(try await system.backend.verify(token).status == 200)
            var fault = EndpointFault()
            fault.body = body
            system.apple.setFault(fault, on: .keys)
            system.apple.clearCounters()
            // An unknown key makes the service fetch from Apple, which now sends a wrong response.
            let unknown = try await system.backend.verify(try await system.mintWithInventedKey(1))
            #expect(unknown.code == "unknown_key" || unknown.code == "keys_unavailable")
            try await eventually { system.apple.counters.keySetRequests > 0 }
            #expect(try await system.backend.verify(token).status == 200)
            #expect(try await system.backend.get("/readyz").status == 200)
        }
    }

    @Test func `a new key is found, and a removed key is refused`() async throws {
        try await WholeSystem.with(bounds: KeySetBounds(lookUpCooldown: 1)) { system in
            let old = try await system.apple.mint(IdentityTokenRecipe()).identityToken
            #expect(try await system.backend.verify(old).status == 200)
            try await system.apple.replaceKeys()
            let new = try await system.apple.mint(IdentityTokenRecipe()).identityToken
            #expect(try await system.backend.verify(new).status == 200)
            #expect(try await system.backend.verify(old).code == "unknown_key")
        }
    }

    @Test
    func `ten thousand invented keys cause one request to Apple, and valid tokens are accepted meanwhile`()
        async throws
    {
        try await WholeSystem.with { system in
            let good = try await system.apple.mint(IdentityTokenRecipe()).identityToken
            let parts = good.split(separator: ".")
            system.apple.clearCounters()
            let began = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<16 {
                    group.addTask {
                        for number in 0..<625 {
                            let header = #"{"alg":"RS256","kid":"LANE\#(lane)N\#(number)"}"#
                            let token = "\(Base64URL.encode(Array(header.utf8))).\(parts[1]).\(parts[2])"
                            let response = try await system.backend.verify(token)
                            #expect(response.status == 401)
                            #expect(response.code == "unknown_key")
                            if number % 25 == 0 {
                                #expect(try await system.backend.verify(good).status == 200)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            // One for each cooldown of 30 seconds. On a slow machine the flood takes several.
            let cooldowns = Int((ContinuousClock.now - began) / .seconds(30))
            #expect(system.apple.counters.keySetRequests <= 2 + cooldowns)
        }
    }
}

extension EndpointFault {
    /// Closes every connection, as if Apple were down.
    static var hangingUp: EndpointFault {
        var fault = EndpointFault()
        fault.cut = .beforeResponse
        return fault
    }
}

extension WholeSystem {
    func mintWithInventedKey(_ number: Int) async throws -> String {
        var recipe = IdentityTokenRecipe()
        recipe.forgery.keyID = "INVENTED\(number)"
        return try await apple.mint(recipe).identityToken
    }
}

/// PostgreSQL goes down and comes back.
@Suite(.serialized) struct PostgresOutageTests {
    @Test(arguments: [PostgresCluster.StopMode.fast, .immediate])
    func `requests that need the database fail, others succeed, and the service recovers by itself`(
        mode: PostgresCluster.StopMode
    ) async throws {
        let cluster = try await PostgresCluster.start()
        let database = try await cluster.makeDatabase()
        try await WholeSystem.withApple { emulator, directory in
            try await WholeSystem.withService(emulator, directory, database: database) { backend in
                let token = try await emulator.state.mint(IdentityTokenRecipe()).identityToken
                #expect(try await backend.signIn(token).status == 201)
                try await cluster.stop(mode)

                #expect(try await backend.signIn(token).code == "storage_unavailable")
                #expect(try await backend.get("/v1/events").code == "storage_unavailable")
                #expect(try await backend.get("/readyz").code == "storage_unavailable")
                let health = try await backend.get("/health")
                #expect(health.status == 503)
                #expect(health["database"]?["cause"] == "unavailable")
                #expect(try await backend.get("/livez").status == 200)
                #expect(try await backend.verify(token).status == 200)

                try await cluster.start()
                try await eventually { try await backend.get("/readyz").status == 200 }
                #expect(try await backend.signIn(token).status == 200)
                // The listener has reconnected, too.
                let page = try await backend.get("/v1/events")
                #expect(page["events"]?.array?.count == 2)
            }
        }
        try await cluster.remove()
    }

    @Test(arguments: [1, 2])
    func `a service that starts five seconds before it waits, and answers probes meanwhile`(
        hosts: Int
    ) async throws {
        let cluster = try await PostgresCluster.start()
        let url = try await cluster.makeDatabase()
        // No server listens at the first of two.
        let two = url.replacing("@localhost:", with: "@localhost:\(try FreePort.find()),localhost:")
        #expect(two.contains(","))
        let database = hosts == 2 ? two : url
        try await cluster.stop(.fast)
        let port = try FreePort.find()
        try await Relation.with { relation in
            async let served = relation.serve(["DATABASE_URL": database, "SIWA_PORT": "\(port)"])
            let waiting = Backend(port: port)
            try await eventually { (try? await waiting.get("/livez"))?.status == 200 }
            let began = ContinuousClock.now
            try await eventually { try relation.loggedText().contains("waiting for the database") }
            let ready = try await waiting.get("/readyz")
            #expect(ready.status == 503 && ready.code == "storage_unavailable")
            #expect(try await waiting.get("/v1/events").status == 503)
            while ContinuousClock.now - began < .seconds(5) {
                #expect(try await waiting.get("/livez").status == 200)
                try await Task.sleep(for: .milliseconds(250))
            }
            try await cluster.start()
            let (service, backend) = try await served
            #expect(
                try await relation.signIn(try relation.apple.makeUser(UserRecipe()), at: backend).status
                    == 201)
            #expect(await service.stop() == 0)
        }
        try await cluster.remove()
    }

    @Test func `a service without a database ends with the cause, and without the password`() async throws {
        // No server listens there.
        let url = "postgres://siwa:s3cr3t-word@localhost:\(try FreePort.find())/siwa"
        try await Relation.with { relation in
            let error = await #expect(throws: ServiceProcess.EndedEarly.self) {
                _ = try await relation.serve(["DATABASE_URL": url])
            }
            let text = try #require(error?.description)
            #expect(text.contains("The service has failed: the database cannot be opened"))
            #expect(!text.contains("s3cr3t"))
        }
    }

    /// A function in a schema before `pg_catalog` stands in for the other software.
    @Test func `a server that is not PostgreSQL ends the start with its name`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let name = String(try #require(url.split(separator: "/").last))
        try await cluster.superuserQuery(
            """
            CREATE SCHEMA other AUTHORIZATION siwa;
            CREATE FUNCTION other.version() RETURNS text LANGUAGE sql AS $$ SELECT 'CockroachDB CCL v23.1' $$;
            ALTER DATABASE \(name) SET search_path = other, pg_catalog, public;
            """, in: name)
        try await Relation.with { relation in
            let error = await #expect(throws: ServiceProcess.EndedEarly.self) {
                _ = try await relation.serve(["DATABASE_URL": url])
            }
            let text = try #require(error?.description)
            #expect(text.contains("expected a PostgreSQL server, found CockroachDB"))
            #expect(!text.contains(PostgresCluster.password))
        }
    }
}

#if os(Linux)
    /// Log lines of a service under load while PostgreSQL is unavailable, full or locked: the beginning and
    /// the end of the outage, and few other lines. The lines of single requests do not count.
    @Suite(.serialized) struct OutageLogTests {
        enum Outage: String, CaseIterable { case gone, full, locked }

        /// Largest number of lines in a minute. The outage of the test is shorter, and most lines are written
        /// at its beginning.
        static let mostLines = 100

        @Test(arguments: Outage.allCases)
        func `an outage writes few lines, is seen by readiness, and ends by itself`(
            outage: Outage
        ) async throws {
            try await LinkedSystem.with(.postgres) { system in
                let service = try await system.serve()
                let backend = service.backend
                let link = try await service.link(.token(try await system.identityToken()))
                let before = try Self.lines(of: system)
                let end = try await Self.begin(outage, system.database)
                let body = #"{"identity_token":"\#(try await system.identityToken())"}"#
                let fields = ["Content-Type: application/json", "Authorization: Bearer \(Backend.secret)"]
                let began = ContinuousClock.now
                var refused = 0
                while ContinuousClock.now - began < .seconds(6) {
                    let found = try await RequestFlood.run(
                        outage == .locked ? 64 : 500, port: service.port, from: "127.0.0.1"
                    ) { _ in RequestFlood.post("/v1/sign-ins", body: body, fields) }
                    refused += found[503] ?? 0
                }
                // Behind a lock each waits until it gives up.
                #expect(refused >= (outage == .locked ? 50 : 400))
                #expect(try await backend.get("/readyz").code == "storage_unavailable")
                let written = try Self.lines(of: system).dropFirst(before.count)
                #expect(written.count < Self.mostLines / 2, "\(written.joined(separator: "\n"))")
                if outage != .gone {
                    let state = outage == .full ? "53100" : "55P03"
                    #expect(written.contains { $0.contains(state) }, "\(written)")
                }
                try await end()
                try await eventually { try await backend.get("/readyz").status == 200 }
                #expect(try await service.refresh(link.refreshToken).status == 200)
                #expect(await service.stop() == 0)
            }
        }

        private static func lines(of system: LinkedSystem) throws -> [String] {
            let directory = system.directory.path
            let files = try FileManager.default.contentsOfDirectory(atPath: directory)
            let texts = try files.filter { $0.hasSuffix(".log") }.map {
                try String(contentsOfFile: "\(directory)/\($0)", encoding: .utf8)
            }
            return texts.joined().split(separator: "\n").map { String($0) }.filter {
                !$0.contains("msg=request ") && !$0.contains("msg=\"requests without a caller\"")
                    && !$0.contains("msg=\"requests answered with 503\"")
            }
        }

        /// Begins an outage, and returns the function that ends it.
        private static func begin(
            _ outage: Outage, _ database: ObservedDatabase
        ) async throws -> @Sendable () async throws -> Void {
            let name = try await database.query("SELECT current_database()")
            let cluster = try await PostgresCluster.shared()
            let cut =
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)'"
            switch outage {
            case .gone:
                try await cluster.superuserQuery("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
                try await cluster.superuserQuery(cut)
                return { try await cluster.superuserQuery("ALTER DATABASE \(name) ALLOW_CONNECTIONS true") }
            case .full:
                try await database.query(
                    """
                    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END
                    $$;
                    CREATE TRIGGER full_disk BEFORE UPDATE OR INSERT ON subject EXECUTE FUNCTION full_disk();
                    CREATE TRIGGER full_disk BEFORE UPDATE OR INSERT ON credential EXECUTE FUNCTION full_disk()
                    """)
                return { try await database.query("DROP FUNCTION full_disk CASCADE") }
            case .locked:
                let holder = Task {
                    try await database.query("BEGIN; LOCK TABLE credential; SELECT pg_sleep(300)")
                }
                try await eventually {
                    try await database.query(
                        "SELECT count(*) FROM pg_locks WHERE relation = 'credential'::regclass AND granted")
                        == "1"
                }
                return {
                    try await cluster.superuserQuery(
                        "\(cut) AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()")
                    _ = try? await holder.value
                }
            }
        }
    }
#endif
