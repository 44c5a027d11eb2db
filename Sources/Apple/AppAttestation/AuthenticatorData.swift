/// The authenticator data of an attestation or an assertion (WebAuthn §6.1), read but not verified.
///
/// The flags are not used: Apple sets the flag for a credential also where there is none, and does not always
/// set the flag for extensions. The kind of the object and the size decide instead.
struct AuthenticatorData: Sendable {
    /// 32 bytes: the hash of the app ID.
    let appIDHash: ArraySlice<UInt8>
    /// Unsigned: readers with a sign fail above 2³¹.
    let counter: UInt32
    /// In attestations only.
    let credential: AttestedCredential?
    /// The bytes that must be nothing or one map of extensions.
    let rest: ArraySlice<UInt8>

    private static let fixedSize = 37

    init(
        parsing bytes: ArraySlice<UInt8>, of kind: AppAttestationKind
    ) throws(AppAttestationError) {
        guard bytes.count >= Self.fixedSize else {
            throw AppAttestationError(
                .authenticatorDataMalformed, found: "\(bytes.count) bytes",
                expected: "at least \(Self.fixedSize) bytes")
        }
        appIDHash = bytes.prefix(32)
        counter = bytes.dropFirst(33).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        var rest = bytes.dropFirst(Self.fixedSize)
        switch kind {
        case .attestation: credential = try AttestedCredential(readingFrom: &rest)
        case .assertion: credential = nil
        }
        self.rest = rest
    }
}
