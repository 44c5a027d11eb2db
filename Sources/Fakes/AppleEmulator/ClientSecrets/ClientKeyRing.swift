import EmulatorServer
import Encodings

/// The keys that teams have registered. A team can have several keys, so that it can rotate them.
struct ClientKeyRing {
    static let capacity = 64

    private(set) var keys: [ClientKey] = []

    init(_ keys: [ClientKey]) throws(EmulatorError) {
        for key in keys { try add(key) }
    }

    /// Throws `.keyExists` when the team already has a key with that ID, and `.tooManyKeys`.
    mutating func add(_ key: ClientKey) throws(EmulatorError) {
        guard self.key(key.keyID, of: key.teamID) == nil else { throw EmulatorError(.keyExists) }
        guard keys.count < Self.capacity else {
            throw EmulatorError(.tooManyKeys, detail: "at most \(Self.capacity)")
        }
        keys.append(key)
    }

    /// Throws `.keyNotFound`.
    mutating func remove(_ keyID: String, of teamID: String) throws(EmulatorError) {
        let index = keys.firstIndex {
            $0.teamID.isByteEqual(to: teamID) && $0.keyID.isByteEqual(to: keyID)
        }
        guard let index else { throw EmulatorError(.keyNotFound) }
        keys.remove(at: index)
    }

    func key(_ keyID: String, of teamID: String) -> ClientKey? {
        keys.first { $0.teamID.isByteEqual(to: teamID) && $0.keyID.isByteEqual(to: keyID) }
    }

    /// The newest key of the team whose private key is known.
    func signingKey(of teamID: String) -> ClientKey? {
        keys.last { $0.teamID.isByteEqual(to: teamID) && $0.privateKeyPEM != nil }
    }
}
