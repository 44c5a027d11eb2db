import AppleAccounts
package import Cryptography

/// Changes of device authorizations that a store has to write at the end of a transaction, in the order of
/// their digests.
package struct DeviceChanges: Sendable, Equatable {
    package var removed: [SHA256Digest] = []
    /// Rows that are new, or that replace the row of the same digest.
    package var devices: [DeviceAuthorization] = []
}

/// The device authorizations of one transaction: as they were loaded, and as the rules have left them.
struct DeviceLedger: Sendable {
    private var loaded: [SHA256Digest: DeviceAuthorization] = [:]
    private var held: [SHA256Digest: DeviceAuthorization] = [:]
    private var userCodes: Set<SHA256Digest> = []
    private var counts: [OAuthClientID: Int] = [:]
    private var total = 0

    subscript(digest: SHA256Digest) -> DeviceAuthorization? { held[digest] }

    mutating func load(_ device: DeviceAuthorization) {
        loaded[device.digest] = device
        held[device.digest] = device
        userCodes.insert(device.userCodeDigest)
    }

    mutating func load(total: Int) { self.total = total }

    mutating func load(_ count: Int, of client: OAuthClientID) { counts[client] = count }

    /// Adds a new device authorization.
    mutating func insert(
        _ device: DeviceAuthorization, _ limits: DeviceLimits
    ) throws(GrantRefusal) {
        let count = counts[device.oauthClientID] ?? 0
        guard count < limits.perClient, total < limits.total else { throw GrantRefusal(.tooManyDevices) }
        guard userCodes.insert(device.userCodeDigest).inserted else { throw GrantRefusal(.userCodeTaken) }
        counts[device.oauthClientID] = count + 1
        total += 1
        held[device.digest] = device
    }

    /// Replaces the device authorization of the same digest.
    mutating func put(_ device: DeviceAuthorization) { held[device.digest] = device }

    mutating func remove(_ digest: SHA256Digest) { held[digest] = nil }

    var changes: DeviceChanges {
        var changes = DeviceChanges()
        changes.removed = loaded.keys.filter { held[$0] == nil }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        changes.devices = held.values.filter { loaded[$0.digest] != $0 }
            .sorted { $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes) }
        return changes
    }
}
