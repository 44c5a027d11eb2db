import Cryptography

/// The authenticator data of an object of App Attest, as devices write it.
enum AuthenticatorData {
    /// The 37 bytes that both kinds of object have.
    static func fixed(appID: String, counter: UInt32, hasExtensions: Bool) -> [UInt8] {
        // Apple sets the flag for a credential also in assertions.
        SHA256Digest.hash(appID).bytes + [hasExtensions ? 0xC0 : 0x40]
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
    }

    /// AAGUID, credential ID and the key as a COSE key (RFC 9053 §7.1).
    ///
    /// - Parameter point: Uncompressed.
    static func credential(aaguid: [UInt8], credentialID: [UInt8], point: [UInt8]) -> [UInt8] {
        let key = CBORItem.map([
            (.unsigned(1), .unsigned(2)), (.unsigned(3), .negative(6)), (.negative(0), .unsigned(1)),
            (.negative(1), .bytes(Array(point[1..<33]))), (.negative(2), .bytes(Array(point[33...]))),
        ])
        return aaguid + [0, UInt8(credentialID.count)] + credentialID + key.encoded
    }

    /// SHA-256 of the authenticator data and the client data hash.
    static func nonce(_ data: [UInt8], _ clientDataHash: [UInt8]) -> [UInt8] {
        SHA256Digest.hash(data + clientDataHash).bytes
    }
}
