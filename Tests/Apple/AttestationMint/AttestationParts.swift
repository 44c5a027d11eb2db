import Cryptography

/// All that an attestation is made of. The initial values make an attestation that passes every check.
public struct AttestationParts: Sendable {
    public static let development = Array("appattestdevelop".utf8)
    public static let production = Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)

    public let key: MintedKey
    public var format = "apple-appattest"
    public var appID = "\(AttestationMint.teamID).\(AttestationMint.bundleID)"
    public var clientData = AttestationMint.clientData
    public var flags: UInt8 = 0x40
    public var counter: UInt32 = 0
    public var aaguid = production
    public var receipt = Array("a receipt".utf8)
    /// `nil` for the hash of the key.
    public var credentialID: [UInt8]?
    /// `nil` for the key.
    public var coseKey: CBORItem?
    /// Bytes after the key.
    public var extensions: [UInt8] = []
    /// `nil` for the key.
    public var leafKey: MintedKey?
    /// In seconds since 1970.
    public var leafValidity = AttestationMint.leafValidity
    /// The contents of the leaf's nonce extensions; `nil` for the correct extension.
    public var nonces: [[UInt8]]?
    /// The contents of the leaf's extensions with a key policy.
    public var keyPolicies: [[UInt8]] = []
    /// The entries of `x5c`; `nil` for the leaf and the intermediate certificate.
    public var certificates: [CBORItem]?

    public init(key: MintedKey) { self.key = key }

    /// The content of the correct nonce extension.
    public var nonce: [UInt8] {
        [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + AttestationMint.nonce(authenticatorData, clientData)
    }

    public var authenticatorData: [UInt8] {
        let credentialID = self.credentialID ?? SHA256Digest.hash(key.point).bytes
        let size = [
            UInt8(truncatingIfNeeded: credentialID.count >> 8), UInt8(truncatingIfNeeded: credentialID.count),
        ]
        return Self.fixed(appID, flags, counter) + aaguid + size + credentialID
            + (coseKey ?? Self.coseKey(key.point)).encoded + extensions
    }

    public static func coseKey(_ point: [UInt8]) -> CBORItem {
        .map([
            (.unsigned(1), .unsigned(2)), (.unsigned(3), .negative(6)), (.negative(0), .unsigned(1)),
            (.negative(1), .bytes(Array(point[1..<33]))), (.negative(2), .bytes(Array(point[33...]))),
        ])
    }

    /// The first 37 bytes of authenticator data.
    static func fixed(_ appID: String, _ flags: UInt8, _ counter: UInt32) -> [UInt8] {
        SHA256Digest.hash(appID).bytes + [flags]
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
    }
}
