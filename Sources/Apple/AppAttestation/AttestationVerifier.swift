// AppAttestation owns the verification of Apple's App Attest: attestations of keys,
// assertions that these keys sign, and receipts. It is pure: no I/O, no clock. It does
// not own challenges, stored keys and counters.

public import Certificates
public import JOSE

/// Verifies attestations of App Attest, in the order of Apple's documentation ("Validating apps that connect
/// to your server").
///
/// It does no I/O and reads no clock. It is thread-safe. The caller must check that the service issued the
/// challenge and that it is unused, and consume it whatever the result.
public struct AttestationVerifier: Sendable {
    private let format = FormatCheck()
    private let chain: CertificateChainCheck
    private let leafKey = LeafKeyCheck()
    private let appID: AppIDCheck
    private let counter = NewKeyCounterCheck()
    private let environment: EnvironmentCheck
    private let keyPolicy: KeyPolicyCheck

    /// - Parameters:
    ///   - root: `.appleAppAttestation`, except for tests and the fake Apple.
    ///   - platform: The platform of the app. macOS needs one more check.
    ///   - environment: The environment whose keys are accepted.
    public init(
        root: TrustAnchor, appID: AppID, platform: AppPlatform, environment: AttestationEnvironment
    ) {
        chain = CertificateChainCheck(root: root)
        self.appID = AppIDCheck(appID: appID)
        self.environment = EnvironmentCheck(environment: environment)
        keyPolicy = KeyPolicyCheck(platform: platform)
    }

    /// Returns the attested key, or throws the code of the first step that failed, in the order of
    /// `AppAttestationStep`.
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

/// A key that Apple has attested. Only `AttestationVerifier` creates it.
///
/// A service stores every member except the object itself, which expires. A key that is already stored keeps
/// its counter: setting the counter back to 0 would allow replays.
public struct VerifiedAttestation: Sendable {
    public let appID: AppID
    public let keyID: AttestedKeyID
    public let publicKey: ECPublicKey
    public let environment: AttestationEnvironment
    /// The counter, which is 0.
    public let counter: UInt32
    /// Apple's receipt for the risk metric, unchanged and unverified.
    public let receipt: [UInt8]
    public let extensions: AuthenticatorExtensions
}
