import AppleAccounts
import GRDB
import SQLTables

/// Times at which work is due next: the first entries of three indexes.
final class DueRows {
    private let statement: PreparedStatement
    private let code: Column<Moment>
    private let check: Column<Moment>
    private let erasure: Column<Moment>

    init(in database: Database) throws {
        var list = SelectList()
        code = list.add("(SELECT min(next_attempt_at) FROM authorization_code)", Moment.self, as: "code")
        check = list.add("(SELECT min(next_check_at) FROM refresh_token)", Moment.self, as: "check")
        erasure = list.add(
            "(SELECT min(next_attempt_at) FROM erasure_grant WHERE step < 4)", Moment.self, as: "erasure")
        statement = try PreparedStatement("SELECT \(list)", in: database)
    }

    func find() throws -> GrantsDue {
        statement.begin()
        defer { statement.finish() }
        guard try statement.step() else { return GrantsDue() }
        return GrantsDue(code: statement[code], check: statement[check], erasure: statement[erasure])
    }
}
