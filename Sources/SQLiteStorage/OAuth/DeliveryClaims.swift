import AppleAccounts
import AuthorizationServer
import GRDB
import SQLTables

/// Claims deliveries to Google. Each claim runs in a transaction of its own on the one connection that
/// writes, so two claimers cannot get the same delivery.
final class DeliveryClaims {
    private let find: PreparedStatement
    private let moment: Parameter<Moment>
    private let limit: Parameter<Int64>
    private let columns: SecurityEventDeliveryTable
    private let move: PreparedStatement
    private let id: Parameter<UniqueID>
    private let end: Parameter<Moment>

    init(in database: Database) throws {
        var parameters = ParameterList()
        (moment, limit) = (parameters.add(Moment.self), parameters.add(Int64.self))
        var list = SelectList()
        columns = list.add(SecurityEventDeliveryTable.self)
        find = try PreparedStatement(
            """
            SELECT \(list) FROM security_event_delivery WHERE next_attempt_at <= \(moment)
            ORDER BY next_attempt_at, id LIMIT \(limit)
            """, in: database)
        var moveParameters = ParameterList()
        (id, end) = (moveParameters.add(UniqueID.self), moveParameters.add(Moment.self))
        move = try PreparedStatement(
            """
            UPDATE security_event_delivery SET attempts = attempts + 1, next_attempt_at = \(end)
            WHERE id = \(id)
            """, in: database)
    }

    func claim(limit most: Int, at now: Moment, leaseUntil: Moment) throws -> [SecurityEventDelivery] {
        var claimed = try due(limit: most, at: now)
        for index in claimed.indices {
            move.begin()
            move.bind(claimed[index].id, to: id)
            move.bind(leaseUntil, to: end)
            try move.execute()
            claimed[index].attempts += 1
            claimed[index].nextAttemptAt = leaseUntil
        }
        return claimed
    }

    private func due(limit most: Int, at now: Moment) throws -> [SecurityEventDelivery] {
        find.begin()
        find.bind(now, to: moment)
        find.bind(Int64(max(most, 0)), to: limit)
        defer { find.finish() }
        var found: [SecurityEventDelivery] = []
        while try find.step() { found.append(try columns.delivery(find)) }
        return found
    }
}
