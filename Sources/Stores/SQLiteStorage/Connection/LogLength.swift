/// Length of the write-ahead log, and the need for a checkpoint. Does no I/O.
///
/// A frame of the log is one page of the file. Only frames of this connection are counted, because no other
/// connection writes.
struct LogLength: Equatable {
    /// Number of frames from which on a checkpoint is due. With millions of accounts these are all different
    /// pages, and a commit that arrives during a checkpoint waits until they are written. So checkpoints are
    /// frequent and short.
    static let longest = 400

    /// Until the first checkpoint the frames that an earlier process has left in the log are unknown.
    private var frames = longest

    var isCheckpointDue: Bool { frames >= Self.longest }

    mutating func append(_ count: Int) {
        frames += count
    }

    /// - Parameters:
    ///   - total: Number of frames in the log.
    ///   - copied: Number of frames that are in the database file now. The others stay in the log while a
    /// reader
    ///     needs the older state of the file.
    mutating func checkpointEnded(total: Int, copied: Int) {
        // After all frames are copied, the next transaction writes from the start of the log again. Otherwise
        // each transaction tries again, which costs nothing while the reader stays.
        frames = copied < total ? total : 0
    }
}
