import AppAttestation
import AttestationMint
import Certificates
import Foundation
import JOSE
import Testing

/// Checks objects that devices of Apple made.
@Suite struct RealAttestationTests {
    @discardableResult private func verify(
        _ real: RealAttestation, object: [UInt8]? = nil, teamID: String? = nil, bundleID: String? = nil,
        environment: AttestationEnvironment? = nil, keyID: AttestedKeyID? = nil, hash: [UInt8]? = nil,
        root: TrustAnchor = .appleAppAttestation, at now: Date? = nil
    ) throws -> VerifiedAttestation {
        let appID = AppID(teamID: teamID ?? real.teamId, bundleID: bundleID ?? real.bundleId)
        let known = AttestationEnvironment(rawValue: real.environment)
        let bytes = try hash ?? Array(#require(real.clientDataHash))
        let moment = try #require(now ?? real.verifyAt)
        return try AttestationVerifier(
            root: root, appID: #require(appID), platform: .iOS, environment: #require(environment ?? known)
        ).verify(
            UnverifiedAttestation(object ?? Array(#require(real.attestation))),
            keyID: #require(keyID ?? AttestedKeyID(base64: real.keyId)),
            clientDataHash: #require(ClientDataHash(bytes: bytes)), at: Int64(moment.timeIntervalSince1970))
    }

    @Test(arguments: try RealAttestation.attested())
    func `accepts what Apple attested`(real: RealAttestation) throws {
        let verified = try verify(real)
        #expect(verified.publicKey.point == Array(real.publicKeyX963))
        #expect(verified.keyID.base64 == real.keyId)
        #expect(verified.receipt.count > 3000)
        let facts = real.authData?.extensions
        #expect(verified.extensions.bundleVersion == facts?["apple_bundle_version_01"])
        let category = verified.extensions.validationCategory
        #expect((category != nil) == (facts?["apple_validation_category_01"] != nil))
        if real.name.contains("-apple-") { #expect(category == ValidationCategory.operatingSystem.rawValue) }
    }

    @Test(arguments: try RealAttestation.attested())
    func `refuses it with anything else`(real: RealAttestation) throws {
        let hash = Array(try #require(real.clientDataHash))
        for index in hash.indices {
            var changed = hash
            changed[index] ^= 1
            #expect(throws: AppAttestationError(.nonceMismatch)) { try verify(real, hash: changed) }
        }
        #expect(throws: AppAttestationError(.appIDMismatch)) {
            try verify(real, bundleID: real.bundleId + "x")
        }
        #expect(throws: AppAttestationError(.appIDMismatch)) { try verify(real, teamID: "A1B2C3D4E5") }
        let other: AttestationEnvironment = real.environment == "production" ? .development : .production
        #expect(throws: AppAttestationError(.environmentMismatch)) { try verify(real, environment: other) }
        var keyID = Array(try #require(Data(base64Encoded: real.keyId)))
        keyID[31] ^= 1
        let changed = AttestedKeyID(base64: Data(keyID).base64EncodedString())
        #expect(throws: AppAttestationError(.keyIDMismatch)) { try verify(real, keyID: changed) }
        let minted = try Minted.shared.get()
        #expect(throws: AppAttestationError(.chainUntrusted)) { try verify(real, root: minted.root) }
    }

    @Test(arguments: try RealAttestation.attested())
    func `refuses it one second after the end of its leaf`(real: RealAttestation) throws {
        let end = try #require(real.leafNotAfter)
        try verify(real, at: end.addingTimeInterval(-1))
        #expect(throws: AppAttestationError(.certificateExpired)) {
            try verify(real, at: end.addingTimeInterval(1))
        }
    }

    /// Each byte outside of the receipt is protected. The receipt has a signature of its own, which is not
    /// checked.
    @Test(arguments: try RealAttestation.attested())
    func `refuses it with a changed byte`(real: RealAttestation) throws {
        let object = Array(try #require(real.attestation))
        let receipt = try verify(real).receipt
        let start = try #require(Data(object).range(of: Data(receipt))?.lowerBound)
        for index in stride(from: 0, to: object.count, by: 7)
        where !(start..<start + receipt.count).contains(index) {
            var changed = object
            changed[index] ^= 1
            #expect(throws: AppAttestationError.self, "byte \(index)") { try verify(real, object: changed) }
        }
    }

    @Test(arguments: try RealAttestation.asserted())
    func `accepts what the device asserted, and refuses it with anything else`(real: RealAttestation) throws {
        let appID = try #require(AppID(teamID: real.teamId, bundleID: real.bundleId))
        let key = try ECPublicKey(point: Array(real.publicKeyX963))
        let verifier = AssertionVerifier(appID: appID)
        for item in real.assertions {
            let assertion = try UnverifiedAssertion(Array(item.assertion))
            let hash = try #require(ClientDataHash(bytes: Array(item.clientDataHash)))
            let verified = try verifier.verify(
                assertion, by: key, clientDataHash: hash, after: item.counter - 1)
            #expect(verified.counter == item.counter)
            #expect(throws: AppAttestationError(.counterNotIncreased)) {
                try verifier.verify(assertion, by: key, clientDataHash: hash, after: item.counter)
            }
            let other = ClientDataHash(hashing: Array(item.clientDataHash))
            #expect(throws: AppAttestationError(.signatureInvalid)) {
                try verifier.verify(assertion, by: key, clientDataHash: other, after: 0)
            }
            let foreign = try #require(AppID(teamID: real.teamId, bundleID: real.bundleId + ".x"))
            #expect(throws: AppAttestationError(.appIDMismatch)) {
                try AssertionVerifier(appID: foreign).verify(
                    assertion, by: key, clientDataHash: hash, after: 0)
            }
        }
    }
}

/// Objects that a device of Apple made. They are third-party data and not part of this project: a test run
/// reads them from the folder in `SIWA_REAL_ATTESTATIONS`.
struct RealAttestation: Decodable, Sendable, CustomTestStringConvertible {
    struct Assertion: Decodable, Sendable {
        let assertion: Data
        let counter: UInt32
        let clientDataHash: Data
    }

    struct Receipt: Decodable, Sendable {
        let cmsSignatureVerifies: Bool
        let type: String
        let environment: String
    }

    struct AuthData: Decodable, Sendable {
        let extensions: [String: String]?
    }

    static let fewest = 31

    let name: String
    let teamId: String
    let bundleId: String
    let environment: String
    let keyId: String
    let publicKeyX963: Data
    let clientDataHash: Data?
    let attestation: Data?
    let assertions: [Assertion]
    let verifyAt: Date?
    let leafNotAfter: Date?
    let authData: AuthData?
    let receipt: Receipt?

    var testDescription: String { name }

    /// Returns no objects without a folder. Throws when the folder is incomplete.
    static func all() throws -> [RealAttestation] {
        guard let path = ProcessInfo.processInfo.environment["SIWA_REAL_ATTESTATIONS"], !path.isEmpty else {
            return []
        }
        let folder = URL(filePath: path)
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            // Seconds are enough.
            let whole = text.replacing(/\.\d+/, with: "")
            return try Date(whole, strategy: .iso8601)
        }
        let objects = try names.sorted().map { name in
            try decoder.decode(RealAttestation.self, from: Data(contentsOf: folder.appending(path: name)))
        }
        try #require(objects.count >= fewest, "only \(objects.count) real objects")
        return objects
    }

    static func attested() throws -> [RealAttestation] { try all().filter { $0.attestation != nil } }
    static func asserted() throws -> [RealAttestation] { try all().filter { !$0.assertions.isEmpty } }
}

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
