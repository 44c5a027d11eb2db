import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

/// Reads and counts waiting devices for a batch.
final class DeviceRows {
    private let byDigest: KeyedSelect<SHA256Digest, OAuthDeviceTable>
    private let byUserCode: KeyedSelect<SHA256Digest, OAuthDeviceTable>
    private let countOfClient: KeyedSelect<OAuthClientID, Void>
    private let countAll: PreparedStatement

    init(in database: Database) throws {
        byDigest = try KeyedSelect(in: database, by: "digest")
        byUserCode = try KeyedSelect(in: database, by: "user_code_digest")
        countOfClient = try KeyedSelect(in: database) {
            "SELECT count(*) FROM oauth_device WHERE oauth_client = \($0)"
        }
        countAll = try PreparedStatement("SELECT count(*) FROM oauth_device", in: database)
    }

    /// Loads the devices and counts that the batch needs. For a batch without devices, it reads nothing.
    func load(into set: inout GrantWorkingSet) throws {
        for digest in set.question.deviceDigests {
            if let found = try byDigest.first(digest, { try $0.record($1) }) { set.load(found) }
        }
        for digest in set.question.userCodeDigests {
            if let found = try byUserCode.first(digest, { try $0.record($1) }) { set.load(found) }
        }
        guard !set.question.newDevicesOf.isEmpty else { return }
        countAll.begin()
        defer { countAll.finish() }
        guard try countAll.step() else { return }
        set.load(deviceCount: Int(countAll.onlyValue(as: Int64.self) ?? 0))
        for client in set.question.newDevicesOf {
            let found = try countOfClient.first(client) { $1.onlyValue(as: Int64.self) } ?? nil
            set.load(deviceCount: Int(found ?? 0), of: client)
        }
    }
}
