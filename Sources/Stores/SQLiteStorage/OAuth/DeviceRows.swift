import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

/// Reads and counts devices that wait for a user, for a batch.
final class DeviceRows {
    private let byDigest: KeyedSelect<SHA256Digest>
    private let byUserCode: KeyedSelect<SHA256Digest>
    private let device: OAuthDeviceTable
    private let countOfClient: KeyedSelect<OAuthClientID>
    private let countAll: PreparedStatement
    private let count: Column<Int64>

    init(in database: Database) throws {
        var list = SelectList()
        device = list.add(OAuthDeviceTable.self)
        byDigest = try KeyedSelect(in: database) { "SELECT \(list) FROM oauth_device WHERE digest = \($0)" }
        byUserCode = try KeyedSelect(in: database) {
            "SELECT \(list) FROM oauth_device WHERE user_code_digest = \($0)"
        }
        var counts = SelectList()
        count = counts.add("count(*)", Int64.self, as: "count")
        countOfClient = try KeyedSelect(in: database) {
            "SELECT \(counts) FROM oauth_device WHERE oauth_client = \($0)"
        }
        countAll = try PreparedStatement("SELECT \(counts) FROM oauth_device", in: database)
    }

    /// Adds what the batch needs. Batches without devices read nothing.
    func load(into set: inout GrantWorkingSet) throws {
        for digest in set.question.deviceDigests {
            if let found = try byDigest.first(digest, { try device.record($0) }) { set.load(found) }
        }
        for digest in set.question.userCodeDigests {
            if let found = try byUserCode.first(digest, { try device.record($0) }) { set.load(found) }
        }
        guard !set.question.newDevicesOf.isEmpty else { return }
        countAll.begin()
        defer { countAll.finish() }
        guard try countAll.step() else { return }
        set.load(deviceCount: Int(try countAll.required(count)))
        for client in set.question.newDevicesOf {
            let found = try countOfClient.first(client) { try $0.required(count) }
            set.load(deviceCount: Int(found ?? 0), of: client)
        }
    }
}
