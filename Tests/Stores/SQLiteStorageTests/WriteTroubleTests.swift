import AppleAccounts
import Logging
import Testing

@testable import SQLiteStorage

/// Log lines while some transactions fit on the disk and others do not.
@Suite struct WriteTroubleTests {
    let start = ContinuousClock.now
    let full = StorageError(.full, detail: "")
    var trouble = WriteTrouble()

    @Test mutating func `a minute of a thousand alternations a second writes a dozen lines`() {
        var lines = 0
        for step in 0..<60_000 {
            let now = start + .milliseconds(step)
            let line =
                step % 2 == 0
                ? trouble.failed(StorageError(.busy, detail: ""), at: now)
                : trouble.succeeded(at: now) { true }
            lines += line == nil ? 0 : 1
        }
        #expect(lines <= 12)
    }

    @Test mutating func `a full disk is full until it has room, whatever still fits`() {
        #expect(trouble.failed(full, at: start) == .isFailing(full))
        #expect(trouble.succeeded(at: start) { false } == nil)
        #expect(trouble.failure == full)
        #expect(trouble.succeeded(at: start) { true } == .isOver)
        #expect(trouble.failure == nil)
    }

    @Test mutating func `a failure that could not be logged at once is logged later`() {
        #expect(trouble.failed(full, at: start) == .isFailing(full))
        #expect(trouble.succeeded(at: start) { true } == .isOver)
        #expect(trouble.failed(full, at: start + .seconds(1)) == nil)
        #expect(trouble.line(at: start + .seconds(9)) == nil)
        #expect(trouble.line(at: start + .seconds(10)) == .isFailing(full))
        #expect(trouble.line(at: start + .seconds(11)) == nil)
    }

    #if os(Linux)
        @Test func `a database that cannot be made where there is no room is called full`() async throws {
            // A file system without a single free block.
            #expect(DiskSpace.isExhausted(at: "/proc/siwa.sqlite"))
            #expect(try !DiskSpace.isExhausted(at: TemporaryDatabase().path))
            await #expect(throws: StorageError(.full, detail: "")) {
                _ = try await SQLiteDatabase.open(
                    path: "/proc/siwa.sqlite", patience: .zero, logger: Logger(label: "test"))
            }
        }
    #endif
}
