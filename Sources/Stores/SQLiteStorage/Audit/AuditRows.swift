import AppleAccounts
import GRDB
import SQLTables

/// Reads the audit log.
final class AuditRows {
    private struct Find {
        let statement: PreparedStatement
        let columns: AuditTable
        let limit: Parameter<Int64>
        let bound: Parameter<Int64>
        let account: Parameter<AccountID>

        /// - Parameter clauses: SQL behind the name of the table.
        init(
            in database: Database, _ clauses: (Parameter<Int64>, Parameter<AccountID>) -> String
        ) throws {
            var parameters = ParameterList()
            (limit, bound) = (parameters.add(Int64.self), parameters.add(Int64.self))
            account = parameters.add(AccountID.self)
            var list = SelectList()
            columns = list.add(AuditTable.self)
            statement = try PreparedStatement(
                "SELECT \(list) FROM audit \(clauses(bound, account)) LIMIT \(limit)", in: database)
        }

        func rows(from sequence: Int64, of id: AccountID? = nil, limit most: Int) throws -> [AuditRow] {
            statement.begin()
            statement.bind(sequence, to: bound)
            if let id { statement.bind(id, to: account) }
            statement.bind(Int64(most), to: limit)
            defer { statement.finish() }
            var rows: [AuditRow] = []
            while try statement.step() { rows.append(try columns.row(statement)) }
            return rows
        }
    }

    private let after: Find
    private let before: Find
    private let ofAccount: Find
    private let findSequence: PreparedStatement
    private let moment: Parameter<Moment>
    private let findChain: PreparedStatement
    private let chainColumns: AuditChainTable
    private let findParts: PreparedStatement
    private let partColumns: ConfigurationFingerprintTable

    init(in database: Database) throws {
        // The account is compared with itself where it does not matter, so that one type binds all three.
        after = try Find(in: database) { bound, account in
            "WHERE sequence > \(bound) AND \(account) IS NULL ORDER BY sequence"
        }
        before = try Find(in: database) { bound, account in
            "WHERE sequence < \(bound) AND \(account) IS NULL ORDER BY sequence DESC"
        }
        ofAccount = try Find(in: database) { bound, account in
            "WHERE account_id = \(account) AND sequence < \(bound) ORDER BY sequence DESC"
        }
        var parameters = ParameterList()
        moment = parameters.add(Moment.self)
        findSequence = try PreparedStatement(
            """
            SELECT sequence FROM audit WHERE recorded_at <= \(moment)
            ORDER BY recorded_at DESC, sequence DESC LIMIT 1
            """, in: database)
        var list = SelectList()
        chainColumns = list.add(AuditChainTable.self)
        findChain = try PreparedStatement("SELECT \(list) FROM audit_chain WHERE id = 1", in: database)
        var parts = SelectList()
        partColumns = parts.add(ConfigurationFingerprintTable.self)
        findParts = try PreparedStatement("SELECT \(parts) FROM configuration_fingerprint", in: database)
    }

    func configurationParts() throws -> [SeenConfigurationPart] {
        findParts.begin()
        defer { findParts.finish() }
        var parts: [SeenConfigurationPart] = []
        while try findParts.step() { parts.append(try partColumns.part(findParts)) }
        return parts
    }

    func rows(after sequence: Int64, limit: Int) throws -> [AuditRow] {
        try after.rows(from: sequence, limit: limit)
    }

    func rows(before sequence: Int64, of account: AccountID?, limit: Int) throws -> [AuditRow] {
        guard let account else { return try before.rows(from: sequence, limit: limit) }
        return try ofAccount.rows(from: sequence, of: account, limit: limit)
    }

    func sequence(at time: Moment) throws -> Int64 {
        findSequence.begin()
        findSequence.bind(time, to: moment)
        defer { findSequence.finish() }
        return try findSequence.step() ? findSequence.onlyValue(as: Int64.self) ?? 0 : 0
    }

    func chain() throws -> AuditChain {
        findChain.begin()
        defer { findChain.finish() }
        guard try findChain.step() else { throw StorageError.noAuditChain }
        return try chainColumns.chain(findChain)
    }
}
