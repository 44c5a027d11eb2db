import AppleAccounts
import Testing

@testable import SQLiteStorage

@Suite struct ReadTroubleTests {
    let now = ContinuousClock.now

    @Test(arguments: [StorageError.Code.corrupted, .unavailable])
    func `a read that failed counts for a while`(code: StorageError.Code) {
        var trouble = ReadTrouble()
        trouble.failed(StorageError(code, detail: ""), at: now)
        #expect(trouble.recent(at: now + .milliseconds(9999))?.code == code)
        #expect(trouble.recent(at: now + .seconds(10)) == nil)
    }

    @Test(arguments: [StorageError.Code.busy, .valueRefused])
    func `what says nothing about the disk does not count`(code: StorageError.Code) {
        var trouble = ReadTrouble()
        trouble.failed(StorageError(code, detail: ""), at: now)
        #expect(trouble.recent(at: now) == nil)
    }
}
