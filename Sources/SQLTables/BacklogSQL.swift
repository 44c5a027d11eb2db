public import AppleAccounts

/// The SQL that counts due claims of Apple's codes and tokens, the same for both stores.
public struct BacklogColumns: Sendable {
    public let codes: Column<Int64>
    public let checks: Column<Int64>
    public let erasures: Column<Int64>

    /// - Parameter moment: The parameter of the statement with the time.
    public init(_ list: inout SelectList, at moment: String) {
        func count(_ rows: String, _ name: StaticString) -> Column<Int64> {
            list.add(
                "(SELECT count(*) FROM (SELECT 1 FROM \(rows) <= \(moment) LIMIT \(AppleTokensBacklog.most)) AS d)",
                Int64.self, as: name)
        }
        codes = count("authorization_code WHERE next_attempt_at", "codes")
        checks = count("refresh_token WHERE next_check_at", "checks")
        erasures = count("erasure_token WHERE step < 4 AND next_attempt_at", "erasures")
    }

    public func backlog(_ row: some ReadableRow) -> AppleTokensBacklog {
        AppleTokensBacklog(codes: row[codes] ?? 0, checks: row[checks] ?? 0, erasures: row[erasures] ?? 0)
    }
}
