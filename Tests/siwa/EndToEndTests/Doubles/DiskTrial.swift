import StrictJSON
import Synchronization
import TestSupport
import Testing

/// The service as a separate process with a disk that can fail, and a backend that records acknowledged
/// changes.
final class DiskTrial: Sendable {
    let disk: FaultyDisk
    let database: String
    private let directory: TemporaryDirectory
    private let variables: [String: String]
    private let service: Mutex<ServiceProcess>
    private let acknowledged = Acknowledged()

    init(_ directory: TemporaryDirectory) async throws {
        self.directory = directory
        database = "\(directory.path)/siwa.sqlite"
        disk = try FaultyDisk(in: directory)
        variables = try CrashTests.variables(directory).merging(disk.variables) { $1 }
        service = Mutex(try await ServiceProcess.serve(directory, variables))
    }

    var backend: Backend {
        Backend(port: service.withLock { $0.port }, secret: CrashTests.secret)
    }

    func stop() async -> Int32 {
        await service.withLock { $0 }.stop()
    }

    func restart() async throws {
        _ = await stop()
        let next = try await ServiceProcess.serve(directory, variables)
        service.withLock { $0 = next }
    }

    func signIn(_ subject: String) async throws {
        let response = try await backend.signIn(try CrashTests.token(subject))
        #expect(response.status == 201)
        acknowledged.signedIn(subject, response["account"]?["id"]?.string ?? "")
    }

    func expectUnavailable(_ subject: String) async throws {
        let response = try await backend.signIn(try CrashTests.token(subject))
        #expect(response.status == 503)
        #expect(response.code == "storage_unavailable")
        #expect(response.retryAfter != nil)
    }

    /// Checks that requests that only read succeed.
    func expectReading(of subject: String) async throws {
        #expect(try await backend.credential(subject)["state"]?.string == "authorized")
        #expect(try await backend.verify(try CrashTests.token(subject)).status == 200)
    }

    func expectRecovery() async throws {
        try await eventually { try await self.backend.get("/readyz").status == 200 }
        try await signIn("after")
    }

    func expectEverything() async throws {
        for promise in acknowledged.all {
            #expect(try await backend.account(promise.subject)["id"]?.string == promise.accountID)
        }
    }
}
