public import JOSE

/// A key that Apple has attested. Only `AttestationVerifier` creates it.
///
/// A service stores all of it but the object itself, which expires. A key that is already stored keeps its
/// counter: setting it back to 0 would allow replays.
public struct VerifiedAttestation: Sendable {
    public let appID: AppID
    public let keyID: AttestedKeyID
    public let publicKey: ECPublicKey
    public let environment: AttestationEnvironment
    /// 0.
    public let counter: UInt32
    /// Apple's receipt for the risk metric, as Apple made it. It is not verified.
    public let receipt: [UInt8]
    public let extensions: AuthenticatorExtensions

    /// All values must have passed every check.
    init(
        appID: AppID, keyID: AttestedKeyID, publicKey: ECPublicKey, environment: AttestationEnvironment,
        counter: UInt32, receipt: [UInt8], extensions: AuthenticatorExtensions
    ) {
        self.appID = appID
        self.keyID = keyID
        self.publicKey = publicKey
        self.environment = environment
        self.counter = counter
        self.receipt = receipt
        self.extensions = extensions
    }
}
