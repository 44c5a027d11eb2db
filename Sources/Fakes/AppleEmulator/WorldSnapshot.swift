import EmulatorServer
import Encodings
import JOSE
import StrictJSON

/// The state that survives a restart: users, keys, codes, tokens, throttling times, transfers, App Attest
/// keys, and waiting notifications. Faults, counters and open pages are lost.
struct WorldSnapshot: Codable {
    struct PublishedKey: Codable {
        let keyID: String
        let pem: String
        let isPublished: Bool
        let signs: Bool
    }

    struct TeamKey: Codable {
        let teamID: String
        let keyID: String
        let x: String
        let y: String
        let privateKeyPEM: String?
    }

    let users: UserDirectory
    let keys: [PublishedKey]
    let clientKeys: [TeamKey]
    let redirectURIs: [String: [String]]
    let grants: GrantRegistry
    let transfers: TransferRegistry
    let outbox: Outbox
    let deviceKeys: DeviceKeyRegistry
    let clockOffset: Int64

    /// Generates the keys that have not been used yet. Throws `.keyGenerationFailed`.
    init(_ world: EmulatedWorld) async throws(EmulatorError) {
        users = world.users
        var keys: [PublishedKey] = []
        for held in world.keys.keys {
            keys.append(
                PublishedKey(
                    keyID: held.key.keyID, pem: try await held.key.privateKey.pem,
                    isPublished: held.isPublished, signs: held.signs))
        }
        self.keys = keys
        clientKeys = world.clientKeys.keys.map { key in
            TeamKey(
                teamID: key.teamID, keyID: key.keyID, x: Base64URL.encode(key.publicKey.x),
                y: Base64URL.encode(key.publicKey.y), privateKeyPEM: key.privateKeyPEM)
        }
        redirectURIs = Dictionary(
            world.apps.map { ($0.primaryClientID, $0.redirectURIs) }, uniquingKeysWith: { first, _ in first })
        (grants, transfers, outbox) = (world.grants, world.transfers, world.outbox)
        (deviceKeys, clockOffset) = (world.deviceKeys, world.clockOffset)
    }

    func signingKeys() throws -> [SigningKey] {
        try keys.map { SigningKey(keyID: $0.keyID, privateKey: try RSAPrivateKey(pem: $0.pem)) }
    }

    /// Restores the state into a world that was created from the configuration. The configuration determines
    /// the apps, and its client keys are added to the client keys in the file. If an app was transferred, its
    /// team comes from the file.
    ///
    /// Throws `JOSEError` and `EmulatorError` if a key cannot be read.
    func restore(into world: inout EmulatedWorld) throws {
        var ring = try KeyRing([])
        for key in keys {
            let held = SigningKey(keyID: key.keyID, privateKey: try RSAPrivateKey(pem: key.pem))
            try ring.add(held, isPublished: key.isPublished, signs: key.signs)
        }
        world.keys = ring
        var team = try ClientKeyRing([])
        for key in clientKeys { try team.add(try key.clientKey()) }
        for key in world.clientKeys.keys where team.key(key.keyID, of: key.teamID) == nil {
            try team.add(key)
        }
        world.clientKeys = team
        (world.users, world.grants, world.transfers) = (users, grants, transfers)
        (world.outbox, world.deviceKeys, world.clockOffset) = (outbox, deviceKeys, clockOffset)
        for index in world.apps.indices {
            let app = world.apps[index].primaryClientID
            if let transfer = transfers.transfers.last(where: { $0.app == app }) {
                world.apps[index].teamID = transfer.recipient
            }
            if world.apps[index].redirectURIs.isEmpty {
                world.apps[index].redirectURIs = redirectURIs[app] ?? []
            }
            world.users.addTeam(world.apps[index].teamID)
        }
    }
}

extension WorldSnapshot.TeamKey {
    fileprivate func clientKey() throws -> ClientKey {
        if let privateKeyPEM {
            return try ClientKey(teamID: teamID, keyID: keyID, pem: privateKeyPEM)
        }
        let jwk = JSONObject([
            ("kty", .string("EC")), ("crv", .string("P-256")), ("x", .string(x)), ("y", .string(y)),
        ])
        return try ClientKey(teamID: teamID, keyID: keyID, jwk: jwk)
    }
}
