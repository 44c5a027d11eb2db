import Testing

@testable import SQLiteStorage

@Suite struct LogLengthTests {
    /// An empty log.
    private func empty() -> LogLength {
        var length = LogLength()
        length.checkpointEnded(total: 0, copied: 0)
        return length
    }

    @Test func `asks for a checkpoint at once, because an earlier process may have left a long log`() {
        #expect(LogLength().isCheckpointDue)
    }

    @Test func `asks for a checkpoint from its longest on`() {
        var length = empty()
        length.append(LogLength.longest - 1)
        #expect(!length.isCheckpointDue)
        length.append(1)
        #expect(length.isCheckpointDue)
        length.checkpointEnded(total: LogLength.longest, copied: LogLength.longest)
        #expect(length == empty())
    }

    @Test func `goes on asking while a reader keeps frames in the log`() {
        var length = empty()
        length.append(1000)
        length.checkpointEnded(total: 1000, copied: 999)
        #expect(length.isCheckpointDue)
        length.append(1)
        length.checkpointEnded(total: 1001, copied: 1001)
        #expect(length == empty())
    }
}
