import AppleAccounts
import AppleIdentity
import JOSE
import Testing
import TokenMint

@testable import siwa

@Suite struct TokenInspectionTests {
    static func inspect(
        _ token: String, kind: TokenKind = .identityToken, clientIDs: [String] = [TokenMint.clientID],
        nonce: String? = nil, keys: String? = nil
    ) async throws -> InspectionReport {
        let inspection = TokenInspection(
            kind: kind, policy: VerificationPolicy(clientIDs: clientIDs), nonce: nonce,
            moment: Moment(seconds: TokenMint.sampleTime + 60))
        let keySet = keys ?? String(decoding: TokenMint.shared.keySet, as: UTF8.self)
        return try await TemporaryFile.with(keySet) { path in
            await inspection.inspect(token, keys: InspectionKeys(file: path, url: nil))
        }
    }

    static func findings(_ report: InspectionReport) -> [VerificationStep: InspectionReport.Finding] {
        Dictionary(uniqueKeysWithValues: report.findings.map { ($0.step, $0.finding) })
    }

    @Test func `an honest token passes every check that was asked for`() async throws {
        let report = try await Self.inspect(try TokenMint.shared.sign(TokenMint.identityClaims()))
        guard case .accepted = report.verdict else {
            Issue.record("\(report.text)")
            return
        }
        let findings = Self.findings(report)
        #expect(findings[.signature] == .passed)
        #expect(findings[.nonce] == .notAsked)
        #expect(!findings.values.contains(.failed))
        #expect(!findings.values.contains(.notReached))
    }

    @Test func `the check that fails is named, and what follows was not reached`() async throws {
        let report = try await Self.inspect(
            try TokenMint.shared.sign(TokenMint.identityClaims()), clientIDs: ["com.example.other"])
        guard case .refused(let error) = report.verdict else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == .audienceMismatch)
        let findings = Self.findings(report)
        #expect(findings[.issuer] == .passed)
        #expect(findings[.audience] == .failed)
        #expect(findings[.expiration] == .notReached)
        #expect(report.text.contains("refused: audience_mismatch"))
    }

    @Test func `garbage is refused without keys`() async throws {
        let report = try await Self.inspect("a.b.c", keys: "no key set")
        guard case .refused(let error) = report.verdict else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .tokenMalformed)
    }

    @Test func `without usable keys nothing can be said`() async throws {
        let report = try await Self.inspect(try TokenMint.shared.sign(TokenMint.identityClaims()), keys: "{}")
        guard case .undecided = report.verdict else {
            Issue.record("decided")
            return
        }
        #expect(Self.findings(report)[.key] == .unknown)
        #expect(Self.findings(report)[.signature] == .notReached)
    }

    @Test func `a notification is judged by its own checks`() async throws {
        let token = try TokenMint.shared.sign(TokenMint.notificationClaims())
        let report = try await Self.inspect(token, kind: .notification)
        guard case .accepted = report.verdict else {
            Issue.record("\(report.text)")
            return
        }
        #expect(Self.findings(report)[.events] == .passed)
        #expect(Self.findings(report)[.subject] == nil)
        let asToken = try await Self.inspect(token)
        guard case .refused(let error) = asToken.verdict else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == .notAnIdentityToken)
    }

    @Test func `JSON has the verdict, every check and the claims`() async throws {
        let report = try await Self.inspect(
            try TokenMint.shared.sign(TokenMint.identityClaims()), nonce: "not-the-nonce")
        let json = try JSONValue(parsing: Array(report.json.utf8))
        #expect(json["verdict"]?.string == "refused")
        #expect(json["code"]?.string == "nonce_missing")
        #expect(json["checks"]?.array?.count == VerificationStep.steps(for: .identityToken).count)
        let good = try await Self.inspect(try TokenMint.shared.sign(TokenMint.identityClaims()))
        let goodJSON = try JSONValue(parsing: Array(good.json.utf8))
        #expect(goodJSON["verdict"]?.string == "accepted")
        #expect(goodJSON["claims"]?["sub"]?.string == TokenMint.subject)
    }
}
