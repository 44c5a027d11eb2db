import Cryptography
public import EmulatorServer
import Encodings
public import JOSE
public import StrictJSON

/// A key with its ID, which a team has registered at Apple to sign client secrets.
///
/// Apple stores only the public key. The emulator also stores the private keys that it generated, so that it
/// can return the `.p8` file and sign client secrets.
public struct ClientKey: Sendable {
    /// The team that may sign with this key.
    public let teamID: String
    /// Key ID: 10 capital letters and digits.
    public let keyID: String
    public let publicKey: ECPublicKey
    /// Private key in PKCS #8 PEM, the content of an `AuthKey_<key ID>.p8`; `nil` if only the public key is
    /// known.
    public let privateKeyPEM: String?

    /// Reads a public or private key in PEM. Throws `.clientKeyRefused` unless it is a P-256 key whose ID has
    /// Apple's format.
    public init(teamID: String, keyID: String, pem: String) throws(EmulatorError) {
        try Self.check(teamID: teamID, keyID: keyID)
        do {
            if pem.contains("PRIVATE KEY") {
                let key = try ECPrivateKey(pem: pem)
                (publicKey, privateKeyPEM) = (key.publicKey, key.pem)
            } else {
                (publicKey, privateKeyPEM) = (try ECPublicKey(pem: pem), nil)
            }
        } catch {
            throw EmulatorError(.clientKeyRefused, detail: "pem: must be a P-256 key")
        }
        (self.teamID, self.keyID) = (teamID, keyID)
    }

    /// Reads an EC key in the format of RFC 7518 §6.2. Throws `.clientKeyRefused` for any other key.
    public init(teamID: String, keyID: String, jwk: JSONObject) throws(EmulatorError) {
        try Self.check(teamID: teamID, keyID: keyID)
        guard jwk["kty"] == .string("EC"), jwk["crv"] == .string("P-256"),
            let x = jwk["x"]?.string.flatMap({ Base64URL.decode($0) }),
            let y = jwk["y"]?.string.flatMap({ Base64URL.decode($0) }),
            let key = try? ECPublicKey(x: x, y: y)
        else {
            throw EmulatorError(.clientKeyRefused, detail: "jwk: must be a P-256 key")
        }
        (self.teamID, self.keyID, publicKey, privateKeyPEM) = (teamID, keyID, key, nil)
    }

    /// Generates a new key, as Apple's developer pages do. Throws `.clientKeyRefused`.
    public static func generate(teamID: String, keyID: String? = nil) throws(EmulatorError) -> ClientKey {
        guard let made = try? ECPrivateKey.generate() else {
            throw EmulatorError(.clientKeyRefused, detail: "the key could not be generated")
        }
        return try ClientKey(teamID: teamID, keyID: keyID ?? newKeyID(), pem: made.pem)
    }

    static func newKeyID() -> String {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String(SecureRandom.bytes(count: 10).map { characters[Int($0) % characters.count] })
    }

    private static func check(teamID: String, keyID: String) throws(EmulatorError) {
        let isKeyID =
            keyID.utf8.count == 10
            && keyID.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        guard isKeyID else {
            throw EmulatorError(.clientKeyRefused, detail: "a key ID must have 10 capital letters and digits")
        }
        guard (1...64).contains(teamID.utf8.count), teamID.utf8.allSatisfy(ControlInput.isUnreserved) else {
            throw EmulatorError(.clientKeyRefused, detail: "a team ID must have 1 to 64 letters and digits")
        }
    }
}

/// The keys that teams have registered. A team can have several keys, so that it can rotate them.
struct ClientKeyRing {
    static let capacity = 64

    private(set) var keys: [ClientKey] = []

    init(_ keys: [ClientKey]) throws(EmulatorError) {
        for key in keys { try add(key) }
    }

    /// Adds a key. Throws `.keyExists` if the team already has a key with that ID, and `.tooManyKeys`.
    mutating func add(_ key: ClientKey) throws(EmulatorError) {
        guard self.key(key.keyID, of: key.teamID) == nil else { throw EmulatorError(.keyExists) }
        guard keys.count < Self.capacity else {
            throw EmulatorError(.tooManyKeys, detail: "at most \(Self.capacity)")
        }
        keys.append(key)
    }

    /// Removes a key. Throws `.keyNotFound`.
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

    /// Returns the team's newest key whose private key is known; `nil` if there is none.
    func signingKey(of teamID: String) -> ClientKey? {
        keys.last { $0.teamID.isByteEqual(to: teamID) && $0.privateKeyPEM != nil }
    }
}
