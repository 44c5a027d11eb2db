import AppleAccounts
import GRDB

extension GrantsDue {
    /// Reads the front of three indexes.
    init(_ database: Database) throws {
        func first(_ sql: String) throws -> Moment? {
            try Int64.fetchOne(database, sql: sql).map { Moment(milliseconds: $0) }
        }
        self.init(
            code: try first("SELECT min(next_attempt_at) FROM authorization_code"),
            check: try first("SELECT min(next_check_at) FROM refresh_token"),
            erasure: try first("SELECT min(next_attempt_at) FROM erasure_grant WHERE step < 4"))
    }
}
