import AppAttestation
import AppleAccounts
import AttestationMint
import Certificates
import Cryptography
import Encodings
import JOSE
import StrictJSON
import Testing

@testable import Composition
@testable import Inspection

@Suite struct AttestationInspectionTests {
    let mint: AttestationMint
    let key: MintedKey

    init() throws {
        mint = try AttestationMint()
        key = try MintedKey()
    }

    private func inspect(
        _ object: [UInt8], bundleID: String = AttestationMint.bundleID,
        kind: AppAttestationKind = .attestation, clientData: [UInt8] = AttestationMint.clientData,
        lastCounter: UInt32 = 0, platform: AppPlatform = .iOS
    ) throws -> AttestationReport {
        let root = try #require(TrustAnchor(pem: mint.root.pem))
        let keyID = AttestedKeyID(base64: Base64.encode(SHA256Digest.hash(key.point).bytes))
        let expectation: AttestationInspection.Expectation =
            switch kind {
            case .attestation:
                .attestation(
                    roots: AppAttestRoots(attestation: root, receipt: root), platform: platform,
                    keyID: try #require(keyID), environment: .production)
            case .assertion: .assertion(key: try ECPublicKey(point: key.point), lastCounter: lastCounter)
            }
        return AttestationInspection(
            appID: try #require(AppID(teamID: AttestationMint.teamID, bundleID: bundleID)),
            clientDataHash: ClientDataHash(hashing: clientData), expectation: expectation,
            moment: Moment(seconds: AttestationMint.sampleTime)
        ).inspect(Base64.encode(object))
    }

    private func finding(_ step: AppAttestationStep, _ report: AttestationReport) -> CheckReport.Finding? {
        report.findings.first { $0.step == step }?.finding
    }

    @Test func `a valid attestation passes every check`() throws {
        let report = try inspect(mint.attestation(AttestationParts(key: key)))
        #expect(report.error == nil && report.isSigned)
        #expect(report.findings.allSatisfy { $0.finding == .passed || $0.step == .keyPolicy })
        #expect(finding(.keyPolicy, report) == .notAsked)
        #expect(report.text.hasPrefix("attestation, verified as of 2026-01-01T00:00:00.000Z\n"))
        #expect(report.text.contains("\naccepted\n\ncontent:\n"))
        #expect(report.text.contains("  app_id: A1B2C3D4E5.com.example.app\n"))
        #expect(report.text.contains("  environment: production\n"))
        #expect(finding(.signature, report) == nil)
    }

    @Test func `a valid assertion passes every check`() throws {
        var parts = AssertionParts(key: key)
        parts.counter = 4
        parts.extensions =
            CBORItem.map([(.text("apple_validation_category_01"), .bytes([4, 0, 0, 0]))]).encoded
        let report = try inspect(parts.assertion(), kind: .assertion, lastCounter: 3)
        #expect(report.error == nil && report.isSigned)
        #expect(report.text.contains("  counter: 4\n"))
        #expect(report.text.contains("  validation_category: 4 (appStore)"))
        #expect(finding(.chain, report) == nil)
    }

    @Test func `the check that fails has the found and the expected value, and what follows was not reached`()
        throws
    {
        let object = try mint.attestation(AttestationParts(key: key))
        let report = try inspect(object, bundleID: "com.example.other")
        #expect(report.error == AppAttestationError(.appIDMismatch))
        #expect(finding(.nonce, report) == .passed)
        #expect(finding(.appID, report) == .failed)
        #expect(finding(.counter, report) == .notReached)
        #expect(report.text.contains("refused: app_id_mismatch"))
        let hash = Hexadecimal.encode(SHA256Digest.hash("A1B2C3D4E5.com.example.app").bytes)
        #expect(report.text.contains("found     \(hash)\n"))
        #expect(report.text.contains(", the hash of A1B2C3D4E5.com.example.other\n"))
    }

    @Test func `an app of macOS needs the key policy of a protected Mac`() throws {
        let report = try inspect(mint.attestation(AttestationParts(key: key)), platform: .macOS)
        #expect(report.error == AppAttestationError(.keyPolicyMissing))
        #expect(finding(.keyPolicy, report) == .failed && finding(.extensions, report) == .passed)
    }

    @Test func `a replay shows both counters`() throws {
        let report = try inspect(AssertionParts(key: key).assertion(), kind: .assertion, lastCounter: 9)
        #expect(report.text.contains("found     1\n") && report.text.contains("expected  more than 9\n"))
    }

    @Test func `content that is not signed is marked as not verified`() throws {
        let object = try mint.attestation(AttestationParts(key: key))
        let report = try inspect(object, clientData: [1])
        #expect(report.error == AppAttestationError(.nonceMismatch) && !report.isSigned)
        #expect(report.text.contains("content, not verified:"))
    }

    @Test func `JSON has the form of the report of a token`() throws {
        var parts = AttestationParts(key: key)
        parts.aaguid = AttestationParts.development
        let report = try inspect(mint.attestation(parts))
        let json = try JSONValue(parsing: Array(report.json.utf8))
        #expect(json["verdict"]?.string == "refused")
        #expect(json["code"]?.string == "environment_mismatch")
        #expect(json["kind"]?.string == "attestation")
        #expect(json["is_signed"]?.bool == true)
        #expect(json["content"]?["environment"]?.string == "development")
        let checks = json["checks"]?.array ?? []
        #expect(
            checks.count == AppAttestationStep.steps(for: .attestation).count + ReceiptStep.allCases.count)
        let failed = checks.first { $0["result"]?.string == "failed" }
        #expect(failed?["found"]?.string == "development" && failed?["expected"]?.string == "production")
        #expect(failed?["advice"]?.string?.isEmpty == false)
    }

    @Test func `control characters of the object do not reach the terminal`() throws {
        var parts = AssertionParts(key: key)
        parts.extensions = CBORItem.map([(.text("apple_bundle_version_01"), .text("\u{1B}[2J"))]).encoded
        let report = try inspect(parts.assertion(), kind: .assertion)
        #expect(report.text.contains("bundle_version: ?[2J"))
        var attested = AttestationParts(key: key)
        attested.format = "\u{1B}[2J"
        let text = try inspect(mint.attestation(attested)).text
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || (" "..."~").contains($0) })
    }

    @Test(arguments: ["", "!", "e30", "bm90IENCT1I="])
    func `other text is refused, and has no content`(text: String) throws {
        let valid = try inspect([])
        #expect(valid.error == AppAttestationError(.objectMalformed))
        let inspection = AttestationInspection(
            appID: try #require(AppID(teamID: AttestationMint.teamID, bundleID: "com.example.app")),
            clientDataHash: ClientDataHash(hashing: []),
            expectation: .assertion(key: try ECPublicKey(point: key.point), lastCounter: 0),
            moment: Moment(seconds: AttestationMint.sampleTime))
        let report = inspection.inspect(text)
        #expect(report.error == AppAttestationError(.objectMalformed) && report.content == nil)
    }

    @Test func `base64 may be broken into lines, and may be base64url`() throws {
        let object = try AssertionParts(key: key).assertion()
        let inspection = AttestationInspection(
            appID: try #require(AppID(teamID: AttestationMint.teamID, bundleID: AttestationMint.bundleID)),
            clientDataHash: ClientDataHash(hashing: AttestationMint.clientData),
            expectation: .assertion(key: try ECPublicKey(point: key.point), lastCounter: 0),
            moment: Moment(seconds: AttestationMint.sampleTime))
        let text = Base64.encode(object)
        let middle = text.index(text.startIndex, offsetBy: 76)
        for form in [text[..<middle] + "\n" + text[middle...], Base64URL.encode(object)[...]] {
            #expect(inspection.inspect(String(form)).error == nil)
        }
    }
}
