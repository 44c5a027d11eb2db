/// The outermost map of an attestation or an assertion.
enum ObjectMembers {
    static func read(_ bytes: [UInt8], longest: Int) throws(AppAttestationError) -> CBORMap {
        guard bytes.count <= longest else {
            throw AppAttestationError(
                .objectTooLarge, found: "\(bytes.count) bytes", expected: "at most \(longest) bytes")
        }
        let value: CBORValue
        do throws(CBORError) {
            value = try CBORValue(parsing: bytes[...], limits: CBORLimits(size: longest))
        } catch {
            throw AppAttestationError(
                .objectMalformed, found: error.debugDescription, expected: "one map in strict CBOR")
        }
        guard let map = value.map else {
            throw AppAttestationError(
                .objectMalformed, found: "another item of CBOR", expected: "one map in strict CBOR")
        }
        return map
    }
}
