/// An attestation object of unknown origin. Its size, its CBOR and its members have been checked.
public struct UnverifiedAttestation: Sendable {
    /// In bytes. Apple's objects have 5,400 to 5,900.
    public static let longestObject = 16 * 1024
    static let format = "apple-appattest"

    let format: String
    /// In DER.
    let leaf: ArraySlice<UInt8>
    /// In DER.
    let intermediate: ArraySlice<UInt8>
    let receipt: ArraySlice<UInt8>
    let authenticatorData: ArraySlice<UInt8>

    /// Throws the codes of the steps `size` and `form` in `AppAttestationStep`.
    ///
    /// Unknown members are ignored, because some versions of iOS send more.
    public init(_ bytes: [UInt8]) throws(AppAttestationError) {
        let object = try ObjectMembers.read(bytes, longest: Self.longestObject)
        guard let format = object["fmt"]?.text, let statement = object["attStmt"]?.map,
            let certificates = statement["x5c"]?.array, let receipt = statement["receipt"]?.bytes,
            let authenticatorData = object["authData"]?.bytes, certificates.count == 2,
            let leaf = certificates[0].bytes, let intermediate = certificates[1].bytes
        else {
            throw AppAttestationError(
                .objectMalformed, found: "other members",
                expected: "fmt, attStmt with two certificates in x5c and a receipt, and authData")
        }
        self.format = format
        (self.leaf, self.intermediate) = (leaf, intermediate)
        (self.receipt, self.authenticatorData) = (receipt, authenticatorData)
    }
}
