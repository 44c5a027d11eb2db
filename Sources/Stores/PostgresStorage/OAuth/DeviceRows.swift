import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Reads and counts waiting devices for a batch.
enum DeviceRows {
    // All transactions lock in the same order, so that two transactions with several devices cannot deadlock.
    private static let lock = TypedQuery<OAuthDeviceTable, [SHA256Digest]>(rows: "oauth_lock_devices") {
        "WHERE digest = ANY (\($0)) ORDER BY digest FOR UPDATE"
    }
    private static let findByUserCode = TypedQuery<OAuthDeviceTable, [SHA256Digest]>(
        rows: "oauth_find_devices"
    ) { "WHERE user_code_digest = ANY (\($0))" }
    private static let count = TypedQuery<
        (client: Column<OAuthClientID>, count: Column<Int64>, total: Column<Int64>), [OAuthClientID]
    >("oauth_count_devices") {
        (
            $0.add("k.name", OAuthClientID.self, as: "name"),
            $0.add(
                "(SELECT count(*) FROM oauth_device WHERE oauth_client = k.name)", Int64.self, as: "count"),
            $0.add("(SELECT count(*) FROM oauth_device)", Int64.self, as: "total")
        )
    } sql: { list, clients in
        "SELECT \(list) FROM unnest(\(clients)) AS k (name)"
    }

    /// Returns the call that locks and reads a batch's devices; `nil` if there are none.
    ///
    /// The call runs before the accounts are looked up. If a consent commits at the same time, its code then
    /// already exists, so the statement that finds the code's owner sees it.
    static func lockCall(_ question: GrantSelection) -> PostgresCall? {
        question.deviceDigests.isEmpty ? nil : lock.statement(question.deviceDigests)
    }

    /// Returns the calls that count the devices. The transaction must hold the lock for new devices.
    static func calls(_ question: GrantSelection) -> [PostgresCall] {
        guard !question.newDevicesOf.isEmpty else { return [] }
        return [findByUserCode.statement(question.userCodeDigests), count.statement(question.newDevicesOf)]
    }

    /// - Parameter rows: The result of `lockCall`.
    static func load(_ rows: PostgresRows, into set: inout GrantWorkingSet) throws {
        for row in rows { set.load(try lock.columns.record(row)) }
    }

    /// - Parameter results: The results of `calls`.
    static func load(_ results: ArraySlice<PostgresRows>, into set: inout GrantWorkingSet) throws {
        guard let devices = results.first, let counts = results.last else { return }
        for row in devices { set.load(try findByUserCode.columns.record(row)) }
        for row in counts {
            set.load(deviceCount: Int(try row.required(count.columns.total)))
            set.load(
                deviceCount: Int(try row.required(count.columns.count)),
                of: try row.required(count.columns.client))
        }
    }
}
