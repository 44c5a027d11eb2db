import Encodings
import Foundation
import HTTPAPI
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Acknowledged changes survive every crash of the process.
@Suite(.serialized) struct CrashTests {
    static let secret = "siwa_crash_test"
    static let quietSecret = "a key that is limited to an app without users"
    static let kills = 20
    /// The largest number of users that sign in between two kills.
    static let usersPerRound = 60

    @Test func `nothing acknowledged is lost when the process is killed under load, 20 times`() async throws {
        try await TemporaryDirectory.with { directory in
            let variables = try Self.variables(directory)
            let acknowledged = Acknowledged()
            for round in 0..<Self.kills {
                let service = try await ServiceProcess.serve(directory, variables)
                let load = Task { await Self.load(service, round: round, into: acknowledged) }
                // The kill comes at a different point of the load in each round.
                let enough = acknowledged.all.count + 1 + round * 2
                try await eventually { acknowledged.all.count >= enough }
                await service.kill()
                await load.value
            }
            #expect(acknowledged.all.count > Self.kills)
            let hasRevoked = acknowledged.all.contains { $0.isRevoked }
            #expect(hasRevoked)

            let service = try await ServiceProcess.serve(directory, variables)
            let backend = Backend(port: service.port, secret: Self.secret)
            for promise in acknowledged.all {
                let account = try await backend.account(promise.subject)
                #expect(account["id"]?.string == promise.accountID)
                let state = try await backend.credential(promise.subject)["state"]?.string
                // Changes that were not acknowledged may have happened too.
                #expect(state == "revoked" || (state == "authorized" && !promise.isRevoked))
            }
            #expect(await service.stop() == 0)
        }
    }

    @Test func `a graceful stop answers running requests, ends long polls, and loses nothing`() async throws {
        try await TemporaryDirectory.with { directory in
            let variables = try Self.variablesWithQuietApp(directory)
            let acknowledged = Acknowledged()
            let service = try await ServiceProcess.serve(directory, variables)
            let backend = Backend(port: service.port, secret: Self.secret)
            let load = Task { await Self.load(service, round: 0, into: acknowledged) }
            try await eventually { acknowledged.all.count >= 5 }
            // Its API key sees no events, so that it waits.
            let quiet = Backend(port: service.port, secret: Self.quietSecret)
            async let poll = quiet.get("/v1/events?after=latest&wait=30")
            try await eventually { try await backend.get("/metrics").text.contains("siwa_event_readers 1\n") }
            let began = ContinuousClock.now
            #expect(await service.stop() == 0)
            #expect(ContinuousClock.now - began < .seconds(20))
            await load.value
            #expect(try await poll.status == 200)

            let again = try await ServiceProcess.serve(directory, variables)
            let reader = Backend(port: again.port, secret: Self.secret)
            for promise in acknowledged.all {
                #expect(try await reader.account(promise.subject)["id"]?.string == promise.accountID)
            }
            #expect(await again.stop() == 0)
        }
    }

    @Test func `the log of a whole run has no token, no subject, no address and no key`() async throws {
        try await TemporaryDirectory.with { directory in
            let service = try await ServiceProcess.serve(
                directory, try Self.variables(directory).merging(["SIWA_LOG_LEVEL": "trace"]) { $1 })
            let backend = Backend(port: service.port, secret: Self.secret)
            let token = try Self.token("log.subject")
            _ = try await backend.signIn(token)
            _ = try await backend.credential("log.subject")
            _ = try await backend.signIn(String(token.dropLast(2)))
            _ = await service.stop()
            let log = service.logText
            #expect(log.contains("route=/v1/sign-ins"))
            for secret in [token, "log.subject", "relay.example", Self.secret, String(token.prefix(40))] {
                #expect(!log.contains(secret))
            }
        }
    }

    /// Signs in users, and revokes every second user, until the service is gone.
    private static func load(_ service: ServiceProcess, round: Int, into acknowledged: Acknowledged) async {
        let backend = Backend(port: service.port, secret: secret)
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<8 {
                group.addTask {
                    for number in stride(from: lane, to: usersPerRound, by: 8) {
                        let subject = "round\(round).user\(number)"
                        guard let token = try? token(subject), let response = try? await backend.signIn(token)
                        else {
                            return
                        }
                        guard response.status == 201, let id = response["account"]?["id"]?.string else {
                            continue
                        }
                        acknowledged.signedIn(subject, id)
                        guard number % 2 == 0, let payload = try? FleetLoad.notification(subject) else {
                            continue
                        }
                        guard let told = try? await backend.notify(payload) else { return }
                        if told.status == 200 { acknowledged.revoked(subject) }
                    }
                }
            }
        }
    }

    static func variables(_ directory: TemporaryDirectory) throws -> [String: String] {
        let keys = "\(directory.path)/keys.json"
        try Data(TokenMint.shared.keySet).write(to: URL(fileURLWithPath: keys))
        return [
            "APPLE_TEAM_ID": "A1B2C3D4E5", "APPLE_CLIENT_IDS": TokenMint.clientID, "APPLE_KEYS_FILE": keys,
            "SIWA_API_KEY_HASHES": "test=\(Hexadecimal.encode(APIKeySecret.hash(secret)))",
            "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite",
        ]
    }

    /// The same with a second app without users, and an API key that is limited to the second app.
    private static func variablesWithQuietApp(_ directory: TemporaryDirectory) throws -> [String: String] {
        let file = "\(directory.path)/siwa.yaml"
        try """
        teams:
          - team_id: A1B2C3D4E5
            apps:
              - client_ids: [\(TokenMint.clientID)]
              - client_ids: [com.example.quiet]
        api_keys:
          - name: test
            hash: \(Hexadecimal.encode(APIKeySecret.hash(secret)))
          - name: quiet
            hash: \(Hexadecimal.encode(APIKeySecret.hash(quietSecret)))
            apps: [com.example.quiet]
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let inFile: Set = ["APPLE_TEAM_ID", "APPLE_CLIENT_IDS", "SIWA_API_KEY_HASHES"]
        return try variables(directory).filter { !inFile.contains($0.key) }
            .merging(["SIWA_CONFIG": file]) { $1 }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    static func token(_ subject: String) throws -> String { try FleetLoad.token(subject) }
}
