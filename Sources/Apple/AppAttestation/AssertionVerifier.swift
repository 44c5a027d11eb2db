public import JOSE

/// Verifies App Attest assertions, in the order of Apple's
/// documentation ("Validating apps that connect to your server").
///
/// Does no I/O. Thread-safe. The caller must check that the
/// challenge in the client data is unused, and store the counter.
public struct AssertionVerifier: Sendable {
    private let appID: AppIDCheck

    public init(appID: AppID) {
        self.appID = AppIDCheck(appID: appID)
    }

    /// Returns the key's new counter, or throws the code of the first `AppAttestationStep` that failed.
    ///
    /// - Parameters:
    ///   - key: The attested key.
    ///   - lastCounter: The key's stored counter; 0 after the attestation.
    public func verify(
        _ assertion: UnverifiedAssertion, by key: ECPublicKey, clientDataHash: ClientDataHash,
        after lastCounter: UInt32
    ) throws(AppAttestationError) -> VerifiedAssertion {
        try AssertionSignatureCheck(key: key, clientDataHash: clientDataHash).check(assertion)
        let data = try AuthenticatorData(parsing: assertion.authenticatorData, of: .assertion)
        try appID.check(data)
        try CounterIncreaseCheck(lastCounter: lastCounter).check(data)
        return VerifiedAssertion(
            appID: appID.appID, counter: data.counter,
            extensions: try AuthenticatorExtensions(parsing: data.rest))
    }
}

/// A request signed by an attested key. Only `AssertionVerifier` creates this value.
public struct VerifiedAssertion: Sendable {
    public let appID: AppID
    /// The key's new counter, which is above the stored counter. The caller must store it in one
    /// compare-and-set before it executes the request.
    public let counter: UInt32
    public let extensions: AuthenticatorExtensions
}
