import AppleAccounts
import GRDB

/// Says when there is work next: the fronts of three indexes.
final class DueRows {
    private let statement: PreparedStatement

    init(in database: Database) throws {
        statement = try PreparedStatement(
            """
            SELECT (SELECT min(next_attempt_at) FROM authorization_code),
                (SELECT min(next_check_at) FROM refresh_token),
                (SELECT min(next_attempt_at) FROM erasure_grant WHERE step < 4)
            """, in: database)
    }

    func find() throws -> GrantsDue {
        statement.begin()
        defer { statement.finish() }
        guard try statement.step() else { return GrantsDue() }
        return GrantsDue(code: statement.moment(0), check: statement.moment(1), erasure: statement.moment(2))
    }
}
