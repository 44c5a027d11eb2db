/// How long the write-ahead log is, and when a checkpoint is due. Does no I/O.
///
/// A frame of the log is one page of the file. It counts what this connection appends, because it is the only
/// one that writes.
struct LogLength: Equatable {
    /// From how many frames on a checkpoint is due. With millions of accounts these are all different pages,
    /// and a commit that arrives during a checkpoint waits until they are written. So checkpoints are
    /// frequent and short.
    static let longest = 400

    /// Until the first checkpoint it is not known what an earlier process has left in the log.
    private var frames = longest

    var isCheckpointDue: Bool { frames >= Self.longest }

    mutating func append(_ count: Int) {
        frames += count
    }

    /// - Parameters:
    ///   - total: How many frames the log has.
    ///   - copied: How many of them are in the database file now. A reader that still needs the file as it
    ///     was keeps the others in the log.
    mutating func checkpointEnded(total: Int, copied: Int) {
        // When all of them are, the next transaction writes from the begin of the log again. Otherwise each
        // transaction tries again, which costs nothing while the reader stays.
        frames = copied < total ? total : 0
    }
}
