import AppleAccounts

/// The columns of a query that counts work due at Apple, for both databases. The statement reads a bounded
/// number of index entries, even if there are many rows.
struct BacklogColumns: Sendable {
    private let codes: Column<Int64>
    private let codesSince: Column<Moment>
    private let checks: Column<Int64>
    private let checksSince: Column<Moment>
    /// Number of failed checks. Their next attempts are in the future.
    private let failedChecks: Column<Int64>
    private let failedChecksSince: Column<Moment>
    private let erasures: Column<Int64>
    private let erasuresSince: Column<Moment>

    /// The statement and its columns. Both are built together, because the columns contain the statement's
    /// parameter.
    static let count: (statement: SQLStatement<Void, Moment>, columns: BacklogColumns) = {
        var columns: BacklogColumns?
        let statement = SQLStatement<Void, Moment>("count_due") { _, now in
            var list = SelectList()
            columns = BacklogColumns(&list, at: "\(now)")
            return "SELECT \(list)"
        }
        guard let columns else { preconditionFailure("the text was not built") }
        return (statement, columns)
    }()

    /// - Parameter moment: The time parameter.
    private init(_ list: inout SelectList, at moment: String) {
        // The order matches an index. Without an order, a database that expects many rows would read the
        // whole table.
        func count(_ rows: String, _ name: StaticString, where condition: String = "") -> Column<Int64> {
            let bounded = "SELECT \(rows) LIMIT \(AppleTokensBacklog.most)"
            return list.add("(SELECT count(*) FROM (\(bounded)) AS d\(condition))", Int64.self, as: name)
        }
        func first(_ query: String, _ name: StaticString) -> Column<Moment> {
            list.add("(SELECT \(query))", Moment.self, as: name)
        }
        codes = count("1 FROM authorization_code ORDER BY next_attempt_at", "codes")
        // A code ID begins with the sign-in time.
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

    func backlog(_ row: some ReadableRow, at moment: Moment) -> AppleTokensBacklog {
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
