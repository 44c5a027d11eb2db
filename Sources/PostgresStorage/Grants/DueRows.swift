import AppleAccounts
import SQLTables

/// Times at which work is due next: the first entries of three indexes.
enum DueRows {
    private struct Find {
        let call: PostgresCall
        let code: Column<Moment>
        let check: Column<Moment>
        let erasure: Column<Moment>

        init() {
            var list = SelectList()
            code = list.add("(SELECT min(next_attempt_at) FROM authorization_code)", Moment.self, as: "code")
            check = list.add("(SELECT min(next_check_at) FROM refresh_token)", Moment.self, as: "check")
            erasure = list.add(
                "(SELECT min(next_attempt_at) FROM erasure_grant WHERE step < 4)", Moment.self, as: "erasure")
            call = PostgresCall(PostgresStatement("due", "SELECT \(list)"))
        }
    }

    private static let find = Find()

    static func find(in session: PostgresSession) throws -> GrantsDue {
        guard let row = try session.run(find.call).first else { return GrantsDue() }
        return GrantsDue(code: row[find.code], check: row[find.check], erasure: row[find.erasure])
    }
}
