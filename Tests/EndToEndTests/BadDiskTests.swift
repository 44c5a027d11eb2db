import Foundation
import StrictJSON
import Testing

/// The database's disk fails, or somebody else has the file: the service says so, goes on with what it can, recovers by
/// itself, and has lost nothing that it had acknowledged.
@Suite(.serialized) struct BadDiskTests {
    @Test(arguments: [
        (FaultyDisk.Fault.full, "full"), (.readOnly, "unavailable"), (.failingSync, "unavailable"),
    ])
    func `a disk that takes nothing stops what must be written, and nothing else`(
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

    @Test func `a slow disk makes everybody wait, and loses nobody`() async throws {
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

    @Test func `a disk that hangs keeps one call waiting, and not all that come after it`() async throws {
        try await Self.with { trial in
            try await trial.signIn("before")
            try trial.disk.set(.hangingSync)
            async let held: Void = trial.signIn("held")
            try await eventually { try await trial.backend.get("/readyz").code == "storage_unavailable" }
            try await trial.expectUnavailable("during")
            try await trial.expectReading(of: "before")

            try trial.disk.set(.none)
            // It was never given up: what was accepted is carried out.
            try await held
            try await trial.expectRecovery()
        }
    }

    @Test func `another program that holds the file is waited for, then reported`() async throws {
        try await Self.with { trial in
            try await trial.signIn("before")
            let intruder = try ForeignTransaction(on: trial.database)
            try await trial.expectUnavailable("during")
            try await trial.expectReading(of: "before")
            let health = try await trial.backend.get("/health")
            #expect(health["database"]?["cause"]?.string == "busy")
            intruder.end()
            try await trial.expectRecovery()
        }
    }

    @Test(arguments: ["", "-wal"])
    func `a file that is no longer where it was takes nothing that would be lost with it`(
        suffix: String
    ) async throws {
        try await Self.with { trial in
            try await trial.signIn("before")
            let (path, elsewhere) = (trial.database + suffix, trial.database + ".moved")
            try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
            // Also while nobody writes.
            #expect(try await trial.backend.get("/readyz").code == "storage_unavailable")
            try await trial.expectUnavailable("during")
            try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
            try await trial.expectRecovery()
        }
    }

    @Test func `a damaged page fails those who need it, and reading it again when it is whole`() async throws
    {
        try await Self.with { trial in
            for number in 0..<60 { try await trial.signIn("person\(number)") }
            // Puts everything into the one file, and forgets the pages that are in memory.
            try await trial.restart()
            let whole = try Data(contentsOf: URL(fileURLWithPath: trial.database))
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: trial.database))
            try file.seek(toOffset: 4096)
            try file.write(contentsOf: Data(repeating: 0xFF, count: whole.count - 4096))
            let answer = try await trial.backend.credential("person7")
            #expect(answer.code == "storage_unavailable")
            #expect(answer.retryAfter != nil)
            let health = try await trial.backend.get("/health")
            #expect(health["database"]?["cause"]?.string == "corrupted")

            try file.seek(toOffset: 0)
            try file.write(contentsOf: whole)
            try file.close()
            try await eventually { try await trial.backend.get("/readyz").status == 200 }
            try await trial.expectReading(of: "person7")
        }
    }

    /// Runs `body`, then starts the service once more and looks for everything that was acknowledged.
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
