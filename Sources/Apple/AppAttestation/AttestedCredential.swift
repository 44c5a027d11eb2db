/// The attested credential data of an attestation (WebAuthn §6.5.1), with a key in the only form that Apple
/// uses.
struct AttestedCredential: Sendable {
    /// 16 bytes.
    let aaguid: ArraySlice<UInt8>
    let credentialID: ArraySlice<UInt8>
    /// The coordinates of the point, 32 bytes each.
    let x: ArraySlice<UInt8>
    let y: ArraySlice<UInt8>

    /// Reads the credential, and moves `bytes` to the bytes after it.
    init(readingFrom bytes: inout ArraySlice<UInt8>) throws(AppAttestationError) {
        guard bytes.count >= 18 else { throw Self.malformed("\(bytes.count) bytes of a credential") }
        aaguid = bytes.prefix(16)
        let size = bytes.dropFirst(16).prefix(2).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(18)
        guard size == 32, bytes.count >= size else {
            throw Self.malformed("a credential ID of \(size) bytes")
        }
        credentialID = bytes.prefix(size)
        bytes = bytes.dropFirst(size)
        let key: CBORValue
        do throws(CBORError) {
            var reader = try CBORReader(bytes)
            key = try reader.readValue()
            bytes = reader.rest
        } catch {
            throw Self.malformed(error.debugDescription)
        }
        // A COSE key (RFC 9053 §7.1): key type EC2, algorithm ES256, curve P-256, coordinates.
        guard let map = key.map, map.entries.count == 5, map[1]?.integer == 2, map[3]?.integer == -7,
            map[-1]?.integer == 1, let x = map[-2]?.bytes, let y = map[-3]?.bytes, x.count == 32,
            y.count == 32
        else { throw Self.malformed("another key") }
        (self.x, self.y) = (x, y)
    }

    private static func malformed(_ found: String) -> AppAttestationError {
        AppAttestationError(
            .authenticatorDataMalformed, found: found,
            expected: "an AAGUID, a credential ID of 32 bytes and an ES256 key in COSE")
    }
}
