import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Reads and counts devices that wait for a user, for a batch.
enum DeviceRows {
    private struct Find {
        let byDigest: TypedStatement<[SHA256Digest]>
        let byUserCode: TypedStatement<[SHA256Digest]>
        let columns: OAuthDeviceTable

        init() {
            var list = SelectList()
            columns = list.add(OAuthDeviceTable.self)
            // In one order, so that two transactions with several devices do not wait for each other.
            byDigest = TypedStatement("oauth_lock_devices") {
                "SELECT \(list) FROM oauth_device WHERE digest = ANY (\($0)) ORDER BY digest FOR UPDATE"
            }
            byUserCode = TypedStatement("oauth_find_devices") {
                "SELECT \(list) FROM oauth_device WHERE user_code_digest = ANY (\($0))"
            }
        }
    }

    private struct Count {
        let statement: TypedStatement<[OAuthClientID]>
        let client: Column<OAuthClientID>
        let count: Column<Int64>
        let total: Column<Int64>

        init() {
            var list = SelectList()
            client = list.add("k.name", OAuthClientID.self, as: "name")
            count = list.add(
                "(SELECT count(*) FROM oauth_device WHERE oauth_client = k.name)", Int64.self, as: "count")
            total = list.add("(SELECT count(*) FROM oauth_device)", Int64.self, as: "total")
            statement = TypedStatement("oauth_count_devices") {
                "SELECT \(list) FROM unnest(\($0)) AS k (name)"
            }
        }
    }

    private static let find = Find()
    private static let count = Count()

    /// Returns the call that locks and reads the devices of the question; `nil` without any.
    ///
    /// It comes before the accounts are found. A consent that commits at the same time has then made its code,
    /// and the statement that finds the code's owner sees it.
    static func lockCall(_ question: GrantSelection) -> PostgresCall? {
        question.deviceDigests.isEmpty ? nil : find.byDigest(question.deviceDigests)
    }

    /// Returns the calls that count the devices, in a transaction that holds the lock of new devices.
    static func calls(_ question: GrantSelection) -> [PostgresCall] {
        guard !question.newDevicesOf.isEmpty else { return [] }
        return [find.byUserCode(question.userCodeDigests), count.statement(question.newDevicesOf)]
    }

    /// - Parameter rows: Result of `lockCall`.
    static func load(_ rows: PostgresRows, into set: inout GrantWorkingSet) throws {
        for row in rows { set.load(try find.columns.record(row)) }
    }

    /// - Parameter results: Results of `calls`.
    static func load(_ results: ArraySlice<PostgresRows>, into set: inout GrantWorkingSet) throws {
        guard let devices = results.first, let counts = results.last else { return }
        for row in devices { set.load(try find.columns.record(row)) }
        for row in counts {
            set.load(deviceCount: Int(try row.required(count.total)))
            set.load(deviceCount: Int(try row.required(count.count)), of: try row.required(count.client))
        }
    }
}
