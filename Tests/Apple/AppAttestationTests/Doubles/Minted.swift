import AppAttestation
import AttestationMint
import Certificates
import JOSE
import Testing

/// The mint and the verifiers of the tests, which trust the root of the mint.
struct Minted: Sendable {
    let mint: AttestationMint
    let root: TrustAnchor
    let key: MintedKey
    let appID: AppID

    static let shared = Result { try Minted() }

    init() throws {
        mint = try AttestationMint()
        root = try #require(TrustAnchor(pem: mint.root.pem))
        key = try MintedKey()
        appID = try #require(AppID(teamID: AttestationMint.teamID, bundleID: AttestationMint.bundleID))
    }

    var parts: AttestationParts { AttestationParts(key: key) }
    var assertionParts: AssertionParts { AssertionParts(key: key) }

    static func keyID(of key: MintedKey) throws -> AttestedKeyID {
        try #require(AttestedKeyID(base64: AttestedKeyID.base64(ofKey: key.point)))
    }

    /// Verifies an attestation as the service does. The other arguments are right for `parts`.
    @discardableResult func verify(
        _ object: [UInt8], appID: AppID? = nil, environment: AttestationEnvironment = .production,
        keyID: AttestedKeyID? = nil, clientData: [UInt8] = AttestationMint.clientData,
        root: TrustAnchor? = nil, platform: AppPlatform = .iOS, at now: Int64 = AttestationMint.sampleTime
    ) throws -> VerifiedAttestation {
        try AttestationVerifier(
            root: root ?? self.root, appID: appID ?? self.appID, platform: platform,
            environment: environment
        ).verify(
            UnverifiedAttestation(object), keyID: keyID ?? Self.keyID(of: key),
            clientDataHash: ClientDataHash(hashing: clientData), at: now)
    }

    /// Verifies a receipt as the service does. The other arguments are right for `ReceiptParts`.
    @discardableResult func verify(
        receipt: [UInt8], appID: AppID? = nil, key: MintedKey? = nil,
        environment: AttestationEnvironment = .production, origin: ReceiptOrigin? = nil,
        root: TrustAnchor? = nil, at now: Int64 = AttestationMint.sampleTime * 1000
    ) throws -> VerifiedReceipt {
        try ReceiptVerifier(
            root: root ?? self.root, appID: appID ?? self.appID, environment: environment
        ).verify(
            UnverifiedReceipt(receipt), of: ECPublicKey(point: (key ?? self.key).point),
            from: origin ?? .attestation(ClientDataHash(hashing: AttestationMint.clientData)), at: now)
    }

    @discardableResult func verify(
        assertion object: [UInt8], appID: AppID? = nil, key: MintedKey? = nil,
        clientData: [UInt8] = AttestationMint.clientData, after counter: UInt32 = 0
    ) throws -> VerifiedAssertion {
        try AssertionVerifier(appID: appID ?? self.appID).verify(
            UnverifiedAssertion(object), by: ECPublicKey(point: (key ?? self.key).point),
            clientDataHash: ClientDataHash(hashing: clientData), after: counter)
    }
}
