import Encodings
import Foundation
import HTTPAPI
import Synchronization
import TestSupport
import TokenMint

/// Several replicas of the service with one database, each a separate process that can be killed and started
/// again.
final class Fleet: Sendable {
    static let secret = "siwa_fleet_test"

    private let services: Mutex<[ServiceProcess?]>
    private let directory: TemporaryDirectory
    private let variables: [String: String]

    private init(_ count: Int, _ directory: TemporaryDirectory, _ variables: [String: String]) {
        services = Mutex(Array(repeating: nil, count: count))
        (self.directory, self.variables) = (directory, variables)
    }

    /// Starts the replicas on an empty database, and kills the remaining replicas at the end.
    static func with<Result>(
        _ count: Int = 3, database url: String, _ body: (Fleet) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            let keys = "\(directory.path)/keys.json"
            try Data(TokenMint.shared.keySet).write(to: URL(fileURLWithPath: keys))
            let fleet = Fleet(
                count, directory,
                [
                    "APPLE_TEAM_ID": "A1B2C3D4E5", "APPLE_CLIENT_IDS": TokenMint.clientID,
                    "APPLE_KEYS_FILE": keys, "DATABASE_URL": url,
                    "SIWA_API_KEY_HASHES": "test=\(Hexadecimal.encode(APIKeySecret.hash(secret)))",
                ])
            do {
                // All at once, as in a deployment: each tries to create the tables.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count { group.addTask { try await fleet.start(number) } }
                    try await group.waitForAll()
                }
                let result = try await body(fleet)
                for number in 0..<count { await fleet.kill(number) }
                return result
            } catch {
                for number in 0..<count { await fleet.kill(number) }
                throw error
            }
        }
    }

    var count: Int { services.withLock(\.count) }

    /// A backend for a replica; `nil` while the replica is down.
    func backend(_ number: Int) -> Backend? {
        services.withLock { $0[number] }.map { Backend(port: $0.port, secret: Self.secret) }
    }

    /// Starts a stopped replica, and again when it ends because the database is down, as an orchestrator
    /// does.
    func start(_ number: Int) async throws {
        for attempt in 1... {
            do {
                let service = try await ServiceProcess.serve(directory, variables)
                services.withLock { $0[number] = service }
                return
            } catch let error as ServiceProcess.EndedEarly {
                guard attempt < 10 else { throw error }
            }
        }
    }

    func kill(_ number: Int) async {
        let service = services.withLock { services in
            defer { services[number] = nil }
            return services[number]
        }
        await service?.kill()
    }

    /// Stops a replica gracefully, and returns its status.
    func stop(_ number: Int) async -> Int32? {
        let service = services.withLock { services in
            defer { services[number] = nil }
            return services[number]
        }
        return await service?.stop()
    }
}
