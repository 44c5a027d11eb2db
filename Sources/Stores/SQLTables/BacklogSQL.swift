public import AppleAccounts

/// The SQL that counts the due work at Apple, the same for both stores. Reads a bounded number of entries of
/// indexes, however many rows there are.
public struct BacklogColumns: Sendable {
    public let codes: Column<Int64>
    public let codesSince: Column<Moment>
    public let checks: Column<Int64>
    public let checksSince: Column<Moment>
    /// Failed checks, whose next attempt is in the future.
    public let failedChecks: Column<Int64>
    public let failedChecksSince: Column<Moment>
    public let erasures: Column<Int64>
    public let erasuresSince: Column<Moment>

    /// - Parameter moment: The parameter of the statement with the time.
    public init(_ list: inout SelectList, at moment: String) {
        // Each order is that of an index: a database that expects many rows would read the table.
        func count(_ rows: String, _ name: StaticString, where condition: String = "") -> Column<Int64> {
            let bounded = "SELECT \(rows) LIMIT \(AppleTokensBacklog.most)"
            return list.add("(SELECT count(*) FROM (\(bounded)) AS d\(condition))", Int64.self, as: name)
        }
        func first(_ query: String, _ name: StaticString) -> Column<Moment> {
            list.add("(SELECT \(query))", Moment.self, as: name)
        }
        codes = count("1 FROM authorization_code ORDER BY next_attempt_at", "codes")
        // The ID of a code begins with the time of its sign-in.
        codesSince = first("received_at FROM authorization_code ORDER BY id LIMIT 1", "codes_since")
        checks = count(
            "1 FROM refresh_token WHERE next_check_at <= \(moment) ORDER BY next_check_at", "checks")
        checksSince = first("min(next_check_at) FROM refresh_token", "checks_since")
        failedChecks = count(
            "next_check_at FROM refresh_token WHERE unchecked_since IS NOT NULL ORDER BY unchecked_since",
            "failed_checks", where: " WHERE next_check_at > \(moment)")
        failedChecksSince = first(
            "min(unchecked_since) FROM refresh_token WHERE unchecked_since IS NOT NULL", "failed_checks_since"
        )
        erasures = count("1 FROM erasure_token WHERE step < 4 ORDER BY next_attempt_at", "erasures")
        erasuresSince = first("min(requested_at) FROM erasure WHERE finished_at IS NULL", "erasures_since")
    }

    public func backlog(_ row: some ReadableRow, at moment: Moment) -> AppleTokensBacklog {
        let due = row[checksSince].flatMap { $0 <= moment ? $0 : nil }
        let count = (row[checks] ?? 0) + (row[failedChecks] ?? 0)
        return AppleTokensBacklog(
            codes: AppleTokensBacklog.Queue(count: row[codes] ?? 0, since: row[codesSince]),
            checks: AppleTokensBacklog.Queue(
                count: min(count, AppleTokensBacklog.most),
                since: [due, row[failedChecksSince]].compactMap { $0 }.min()),
            erasures: AppleTokensBacklog.Queue(count: row[erasures] ?? 0, since: row[erasuresSince]))
    }
}
