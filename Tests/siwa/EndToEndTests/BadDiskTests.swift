import Foundation
import StrictJSON
import Synchronization
import TestSupport
import Testing

/// The database's disk fails, or another program locks the file: the service reports it, continues as far as
/// possible, recovers by itself, and loses nothing that it has acknowledged.
@Suite(.serialized) struct BadDiskTests {
    @Test(arguments: [
        (FaultyDisk.Fault.full, "full"), (.readOnly, "unavailable"), (.failingSync, "unavailable"),
    ])
    func `a disk without space stops writes, and nothing else`(
        fault: FaultyDisk.Fault, cause: String
    ) async throws {
        try await Self.with { trial in
            try await trial.signIn("before")
            try trial.disk.set(fault)
            try await trial.expectUnavailable("during")
            try await trial.expectReading(of: "before")
            let health = try await trial.backend.get("/health")
            #expect(health["database"]?["cause"]?.string == cause)
            #expect(try await trial.backend.get("/readyz").code == "storage_unavailable")
            #expect(try await trial.backend.get("/livez").status == 200)

            try trial.disk.set(.none)
            try await trial.expectRecovery()
        }
    }

    @Test func `a slow disk delays requests, and loses none`() async throws {
        try await Self.with { trial in
            try trial.disk.set(.slowSync)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 { group.addTask { try await trial.signIn("slow\(number)") } }
                try await group.waitForAll()
            }
            #expect(try await trial.backend.get("/readyz").status == 200)
            try trial.disk.set(.none)
        }
    }

    @Test func `a disk that hangs blocks one request, and not all later ones`() async throws {
        try await Self.with { trial in
            try await trial.signIn("before")
            try trial.disk.set(.hangingSync)
            async let held: Void = trial.signIn("held")
            try await eventually { try await trial.backend.get("/readyz").code == "storage_unavailable" }
            try await trial.expectUnavailable("during")
            try await trial.expectReading(of: "before")

            try trial.disk.set(.none)
            // The accepted request is still executed.
            try await held
            try await trial.expectRecovery()
        }
    }

    @Test func `the service waits for a lock of another program, then reports it`() async throws {
        try await Self.with { trial in
            try await trial.signIn("before")
            let intruder = try ForeignTransaction(on: trial.database)
            try await trial.expectUnavailable("during")
            try await trial.expectReading(of: "before")
            let health = try await trial.backend.get("/health")
            #expect(health["database"]?["cause"] == "busy")
            intruder.end()
            try await trial.expectRecovery()
        }
    }

    @Test(arguments: ["", "-wal"])
    func `a moved file accepts no writes that would be lost`(
        suffix: String
    ) async throws {
        try await Self.with { trial in
            try await trial.signIn("before")
            let (path, elsewhere) = (trial.database + suffix, trial.database + ".moved")
            try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
            // Also without writes.
            #expect(try await trial.backend.get("/readyz").code == "storage_unavailable")
            try await trial.expectUnavailable("during")
            try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
            try await trial.expectRecovery()
        }
    }

    @Test func `a damaged page fails the requests that read it, until it is repaired`() async throws {
        try await Self.with { trial in
            for number in 0..<60 { try await trial.signIn("user\(number)") }
            // Moves everything into the main file, and drops the cached pages.
            try await trial.restart()
            let whole = try Data(contentsOf: URL(fileURLWithPath: trial.database))
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: trial.database))
            try file.seek(toOffset: 4096)
            try file.write(contentsOf: Data(repeating: 0xFF, count: whole.count - 4096))
            let response = try await trial.backend.credential("user7")
            #expect(response.code == "storage_unavailable")
            #expect(response.retryAfter != nil)
            let health = try await trial.backend.get("/health")
            #expect(health["database"]?["cause"] == "corrupted")

            try file.seek(toOffset: 0)
            try file.write(contentsOf: whole)
            try file.close()
            try await eventually { try await trial.backend.get("/readyz").status == 200 }
            try await trial.expectReading(of: "user7")
        }
    }

    /// Runs `body`, then starts the service again and checks that it has every acknowledged change.
    private static func with(_ body: @Sendable (DiskTrial) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            let trial = try await DiskTrial(directory)
            try await body(trial)
            try await trial.restart()
            try await trial.expectEverything()
            #expect(await trial.stop() == 0)
        }
    }
}

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
        variables = try ServiceProcess.variables(directory).merging(disk.variables) { $1 }
        service = Mutex(try await ServiceProcess.serve(directory, variables))
    }

    var backend: Backend { Backend(port: service.withLock { $0.port }, secret: Backend.secret) }

    func stop() async -> Int32 { await service.withLock { $0 }.stop() }

    func restart() async throws {
        _ = await stop()
        let next = try await ServiceProcess.serve(directory, variables)
        service.withLock { $0 = next }
    }

    func signIn(_ subject: String) async throws {
        let response = try await backend.signIn(try Minted.token(subject))
        #expect(response.status == 201)
        acknowledged.signedIn(subject, response["account"]?["id"]?.string ?? "")
    }

    func expectUnavailable(_ subject: String) async throws {
        let response = try await backend.signIn(try Minted.token(subject))
        #expect(response.status == 503)
        #expect(response.code == "storage_unavailable")
        #expect(response.retryAfter != nil)
    }

    /// Checks that requests that only read succeed.
    func expectReading(of subject: String) async throws {
        #expect(try await backend.credential(subject)["state"] == "authorized")
        #expect(try await backend.verify(try Minted.token(subject)).status == 200)
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
