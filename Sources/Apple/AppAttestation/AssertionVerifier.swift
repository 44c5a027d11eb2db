public import JOSE

/// Verifies assertions of App Attest, in the order of Apple's documentation ("Validating apps that connect to
/// your server").
///
/// It does no I/O and is thread-safe. The caller must check that the challenge in the
/// client data is unused, and store the counter.
public struct AssertionVerifier: Sendable {
    private let appID: AppIDCheck

    public init(appID: AppID) {
        self.appID = AppIDCheck(appID: appID)
    }

    /// Returns the new counter of the key, or throws the code of the first step that failed, in the order of
    /// `AppAttestationStep`.
    ///
    /// - Parameters:
    ///   - key: The attested key.
    ///   - lastCounter: The stored counter of the key; 0 after the attestation.
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

/// A request that an attested key has signed. Only `AssertionVerifier` creates it.
public struct VerifiedAssertion: Sendable {
    public let appID: AppID
    /// The counter, above the stored counter. One compare-and-set
    /// must store it before the request is executed.
    public let counter: UInt32
    public let extensions: AuthenticatorExtensions
}
