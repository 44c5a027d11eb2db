/// An assertion of unknown origin. Its size, its CBOR and its members have been checked.
public struct UnverifiedAssertion: Sendable {
    /// In bytes. Apple's assertions have 140 to 260.
    public static let longestObject = 4 * 1024

    /// ECDSA in DER.
    let signature: ArraySlice<UInt8>
    let authenticatorData: ArraySlice<UInt8>

    /// Throws the codes of the steps `size` and `form` in `AppAttestationStep`.
    ///
    /// Unknown members are ignored, because some versions of iOS send more.
    public init(_ bytes: [UInt8]) throws(AppAttestationError) {
        let object = try ObjectMembers.read(bytes, longest: Self.longestObject)
        guard let signature = object["signature"]?.bytes,
            let authenticatorData = object["authenticatorData"]?.bytes
        else {
            throw AppAttestationError(
                .objectMalformed, found: "other members", expected: "signature and authenticatorData")
        }
        (self.signature, self.authenticatorData) = (signature, authenticatorData)
    }
}
