// AppAttestation owns the verification of Apple's App Attest: key attestations,
// assertions signed by attested keys, and receipts. It is pure, with no I/O and
// no clock. It does not own challenges, stored keys or counters.

public import Certificates
public import JOSE

/// Verifies App Attest attestations, in the order of Apple's
/// documentation ("Validating apps that connect to your server").
///
/// Does no I/O and reads no clock. Thread-safe. The caller must check that the service issued the challenge
/// and that no request has used it, and must consume the challenge regardless of the result.
public struct AttestationVerifier: Sendable {
    private let format = FormatCheck()
    private let chain: CertificateChainCheck
    private let leafKey = LeafKeyCheck()
    private let appID: AppIDCheck
    private let counter = NewKeyCounterCheck()
    private let environment: EnvironmentCheck
    private let keyPolicy: KeyPolicyCheck

    /// - Parameters:
    ///   - root: `.appleAppAttestation`, except in tests and with the fake Apple.
    ///   - platform: The app's platform. macOS needs one more check.
    ///   - environment: The environment of the accepted keys.
    public init(
        root: TrustAnchor, appID: AppID, platform: AppPlatform, environment: AttestationEnvironment
    ) {
        chain = CertificateChainCheck(root: root)
        self.appID = AppIDCheck(appID: appID)
        self.environment = EnvironmentCheck(environment: environment)
        keyPolicy = KeyPolicyCheck(platform: platform)
    }

    /// Returns the attested key, or throws the code of the first `AppAttestationStep` that failed.
    ///
    /// - Parameter now: Seconds since 1970.
    public func verify(
        _ attestation: UnverifiedAttestation, keyID: AttestedKeyID, clientDataHash: ClientDataHash,
        at now: Int64
    ) throws(AppAttestationError) -> VerifiedAttestation {
        try format.check(attestation)
        let certificates = try AttestationCertificates(attestation, under: chain.root, at: now)
        try chain.check(certificates, at: now)
        let key = try leafKey.key(of: certificates)
        try NonceCheck(clientDataHash: clientDataHash).check(certificates, attestation.authenticatorData)
        try KeyIDCheck(keyID: keyID).check(key)
        let data = try AuthenticatorData(parsing: attestation.authenticatorData, of: .attestation)
        try appID.check(data)
        try counter.check(data)
        guard let credential = data.credential else { throw AppAttestationError(.authenticatorDataMalformed) }
        try environment.check(credential)
        try CredentialIDCheck(keyID: keyID).check(credential)
        try CredentialKeyCheck(key: key).check(credential)
        let extensions = try AuthenticatorExtensions(parsing: data.rest)
        try keyPolicy.check(certificates)
        return VerifiedAttestation(
            appID: appID.appID, keyID: keyID, publicKey: key, environment: environment.environment,
            counter: data.counter, receipt: Array(attestation.receipt), extensions: extensions)
    }
}

/// A key that Apple has attested. Only `AttestationVerifier` creates this value.
///
/// A service stores every member except the attestation object, which expires. If the key is already stored,
/// the service must keep the stored counter, because resetting it to 0 would allow replays.
public struct VerifiedAttestation: Sendable {
    public let appID: AppID
    public let keyID: AttestedKeyID
    public let publicKey: ECPublicKey
    public let environment: AttestationEnvironment
    /// The key's counter, always 0.
    public let counter: UInt32
    /// Apple's receipt for the risk metric, unchanged and unverified.
    public let receipt: [UInt8]
    public let extensions: AuthenticatorExtensions
}
