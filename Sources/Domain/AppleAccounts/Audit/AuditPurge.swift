/// The deletion of rows past their time. The row before the oldest row that is left becomes the anchor of the
/// chain, and a new row tells of it, so that cutting off old rows by hand is found.
public enum AuditPurge {
    /// Most rows that one step deletes, and that it reads to decide, so that audited changes do not wait for long.
    public static let largestStep = 1000
    /// Most rows behind these in which a step looks for the end of rows of the future.
    public static let farthestSearch = 100_000

    /// Returns the number of rows that a step deletes, of the oldest. They are a beginning of the chain, so that it
    /// stays one piece: up to the last old row before the first row that is neither old nor of the future.
    ///
    /// - Parameters:
    ///   - oldest: The times of the oldest rows, `largestStep` at most.
    ///   - end: Rows are old that were recorded before.
    ///   - next: Returns the time of the first row after `oldest` that is old or not of the future, out of
    ///     `farthestSearch` rows. Called only when a full step ends with rows of the future.
    public static func step(
        _ oldest: [Moment], before end: Moment, at now: Moment, next: () throws -> Moment?
    ) rethrows -> Int {
        let oldOrFuture = oldest.prefix { $0 < end || $0 > now }
        let count = oldOrFuture.lastIndex { $0 < end }.map { $0 + 1 } ?? 0
        guard count < oldOrFuture.count, oldOrFuture.count == largestStep, let next = try next(), next < end
        else { return count }
        return oldOrFuture.count
    }

    static func detail(_ anchor: AuditLink) -> String { "up to row \(anchor.sequence), \(anchor.hashText)" }

    /// The entry that tells of a purge.
    public static func entry(upTo anchor: AuditLink, at moment: Moment) -> AuditEntry {
        AuditEntry(.auditPurged, by: .service, at: moment, detail: detail(anchor))
    }
}
