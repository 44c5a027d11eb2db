import AppAttestation
import AppleAccounts
import GRDB
import SQLTables

/// Reads the counts of App Check. Stays on the queue of its connection; after it threw, it must not be used
/// again.
final class AppCheckHourRows {
    private let find: PreparedStatement
    private let columns: AppCheckHourTable
    private let kind: Parameter<Int64>
    private let name: Parameter<String>
    private let begin: Parameter<Moment>

    init(in database: Database) throws {
        var list = SelectList()
        columns = list.add(AppCheckHourTable.self)
        var parameters = ParameterList()
        (kind, name) = (parameters.add(Int64.self), parameters.add(String.self))
        begin = parameters.add(Moment.self)
        find = try PreparedStatement(
            """
            SELECT \(list) FROM app_check_hour
            WHERE target_kind = \(kind) AND target = \(name) AND begins_at >= \(begin) ORDER BY begins_at
            """, in: database)
    }

    func hours(of target: AppCheckTarget, from hour: Int64) throws -> [AppCheckHour] {
        find.begin()
        find.bind(target.kind.storageCode, to: kind)
        find.bind(target.name, to: name)
        find.bind(Moment(seconds: hour), to: begin)
        defer { find.finish() }
        var hours: [AppCheckHour] = []
        while try find.step() { hours.append(try columns.hour(find)) }
        return hours
    }
}
