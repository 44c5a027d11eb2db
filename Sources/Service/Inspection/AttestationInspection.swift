package import AppAttestation
package import AppleAccounts
import Cryptography
import Encodings
package import JOSE
import StrictJSON

/// Runs the App Attest verifiers on an object, and reports the result of each step.
package struct AttestationInspection: Sendable {
    /// The expected values for each kind of object.
    package enum Expectation: Sendable {
        case attestation(
            roots: AppAttestRoots, platform: AppPlatform, keyID: AttestedKeyID,
            environment: AttestationEnvironment)
        case assertion(key: ECPublicKey, lastCounter: UInt32)

        var kind: AppAttestationKind {
            switch self {
            case .attestation: .attestation
            case .assertion: .assertion
            }
        }
    }

    let appID: AppID
    let clientDataHash: ClientDataHash
    let expectation: Expectation
    let moment: Moment

    package init(
        appID: AppID, clientDataHash: ClientDataHash, expectation: Expectation, moment: Moment
    ) {
        (self.appID, self.clientDataHash) = (appID, clientDataHash)
        (self.expectation, self.moment) = (expectation, moment)
    }

    /// - Parameter text: The object in base64 or base64url. White space is ignored.
    package func inspect(_ text: String) -> AttestationReport {
        guard let bytes = Self.bytes(of: text) else {
            let error = AppAttestationError(.objectMalformed, found: "other text", expected: "base64")
            return report(error, content: nil)
        }
        var content: UnverifiedContent?
        var receipt: ReceiptFinding?
        do throws(AppAttestationError) {
            switch expectation {
            case .attestation(let roots, let platform, let keyID, let environment):
                let object = try UnverifiedAttestation(bytes)
                content = UnverifiedContent(of: object)
                let verified = try AttestationVerifier(
                    root: roots.attestation, appID: appID, platform: platform, environment: environment
                ).verify(
                    object, keyID: keyID, clientDataHash: clientDataHash, at: moment.milliseconds / 1000)
                receipt = inspectReceipt(of: verified, under: roots)
            case .assertion(let key, let lastCounter):
                let object = try UnverifiedAssertion(bytes)
                content = UnverifiedContent(of: object)
                _ = try AssertionVerifier(appID: appID).verify(
                    object, by: key, clientDataHash: clientDataHash, after: lastCounter)
            }
        } catch {
            return report(error, content: content)
        }
        return report(nil, content: content, receipt: receipt)
    }

    /// Adds the receipt's verification result to the report. It does not affect the verdict on the
    /// attestation.
    private func inspectReceipt(
        of attestation: VerifiedAttestation, under roots: AppAttestRoots
    ) -> ReceiptFinding {
        do throws(ReceiptError) {
            let verifier = ReceiptVerifier(
                root: roots.receipt, appID: appID, environment: attestation.environment)
            return .verified(
                try verifier.verify(
                    UnverifiedReceipt(attestation.receipt), of: attestation.publicKey,
                    from: .attestation(clientDataHash), at: moment.milliseconds))
        } catch {
            return .refused(error)
        }
    }

    private func report(
        _ error: AppAttestationError?, content: UnverifiedContent?, receipt: ReceiptFinding? = nil
    ) -> AttestationReport {
        AttestationReport(
            expectation: expectation, moment: moment, error: error,
            content: content.map { AttestationContent($0, of: appID) }, receipt: receipt)
    }

    private static func bytes(of text: String) -> [UInt8]? {
        let text = text.filter { !$0.isWhitespace }
        return Base64.decode(text) ?? Base64URL.decode(text)
    }
}

/// The unverified content of an App Attest object, for display only.
struct AttestationContent {
    let object: JSONObject

    /// - Parameter appID: The expected app. The object itself contains only a hash of its app ID.
    init(_ content: UnverifiedContent, of appID: AppID) {
        var members: [(String, JSONValue)] = [
            ("app_id_hash", .string(Hexadecimal.encode(content.appIDHash)))
        ]
        if content.appIDHash == appID.digest.bytes { members.append(("app_id", .string(appID.text))) }
        members.append(("counter", .integer(Int64(content.counter))))
        if let credentialID = content.credentialID {
            members.append(("credential_id", .string(credentialID)))
            members.append(("environment", content.environment.map { .string($0.rawValue) } ?? .null))
        }
        if let validity = content.validity {
            members.append(("certificate_not_before", .string(Moment(seconds: validity.begin).rfc3339)))
            members.append(("certificate_not_after", .string(Moment(seconds: validity.end).rfc3339)))
        }
        if let size = content.receiptSize { members.append(("receipt_bytes", .integer(Int64(size)))) }
        if let category = content.extensions?.validationCategory {
            members.append(("validation_category", .integer(Int64(category))))
        }
        if let version = content.extensions?.bundleVersion {
            members.append(("bundle_version", .string(version)))
        }
        object = JSONObject(members)
    }

    /// The text of each member, without control characters. Known categories are shown by name.
    var texts: [String] {
        object.members.map { name, value in
            let text = value.string ?? String(decoding: value.serialized(), as: UTF8.self)
            let category = value.integer.flatMap { UInt32(exactly: $0) }.flatMap {
                ValidationCategory(rawValue: $0)
            }
            guard name == "validation_category", let category else { return TokenContent.shown(text) }
            return "\(text) (\(category))"
        }
    }
}

/// The result of verifying an accepted attestation's receipt.
enum ReceiptFinding {
    case verified(VerifiedReceipt)
    case refused(ReceiptError)

    var error: ReceiptError? {
        switch self {
        case .verified: nil
        case .refused(let error): error
        }
    }

    /// The content of a verified receipt; `nil` for a refused receipt.
    var content: JSONObject? {
        switch self {
        case .verified(let receipt):
            JSONObject([
                ("kind", .string(receipt.kind.rawValue)),
                ("environment", .string(receipt.environment.rawValue)),
                ("created_at", .string(Moment(milliseconds: receipt.createdAt).rfc3339)),
                ("expires_at", .string(Moment(milliseconds: receipt.expiresAt).rfc3339)),
            ])
        case .refused: nil
        }
    }

    /// Returns the result of each step. The verifier stops at the first failed step.
    ///
    /// - Parameter finding: The result for the receipt; `nil` if the attestation was refused, in which case
    ///   its receipt was not verified.
    static func findings(of finding: ReceiptFinding?) -> [(step: ReceiptStep, finding: CheckReport.Finding)] {
        let steps = ReceiptStep.allCases
        guard let finding else { return steps.map { ($0, .notReached) } }
        let failed = finding.error.flatMap { steps.firstIndex(of: $0.step) } ?? steps.count
        return steps.enumerated().map { index, step in
            (step, index < failed ? .passed : index == failed ? .failed : .notReached)
        }
    }
}

/// The report about an App Attest object: the result of each check, and the object's content.
package struct AttestationReport {
    let expectation: AttestationInspection.Expectation
    let moment: Moment
    /// The verifier's error; `nil` if the object is accepted.
    package let error: AppAttestationError?
    /// The object's content; `nil` if it is unreadable.
    let content: AttestationContent?
    /// The result for the receipt; `nil` for an assertion and for a refused attestation.
    let receipt: ReceiptFinding?

    private var kind: AppAttestationKind { expectation.kind }

    /// The result of each step. The verifier stops at the first failed step.
    var findings: [(step: AppAttestationStep, finding: CheckReport.Finding)] {
        let steps = AppAttestationStep.steps(for: kind)
        let failed = error.flatMap { steps.firstIndex(of: $0.step) } ?? steps.count
        return steps.enumerated().map { index, step in
            let passed: CheckReport.Finding = wasAsked(step) ? .passed : .notAsked
            return (step, index < failed ? passed : index == failed ? .failed : .notReached)
        }
    }

    /// Returns `false` if the step applies only to apps on another platform.
    private func wasAsked(_ step: AppAttestationStep) -> Bool {
        guard step == .keyPolicy, case .attestation(_, let platform, _, _) = expectation else { return true }
        return platform == .macOS
    }

    /// True if the content is signed, even if a later check failed. Apple signs an attestation through the
    /// nonce in the attestation's certificate; an assertion is signed by its key.
    var isSigned: Bool {
        findings.contains { step, finding in
            switch kind {
            case .attestation: step == .nonce && finding == .passed
            case .assertion: step == .signature && finding == .passed
            }
        }
    }

    package var text: String { form.text }

    package var json: String { form.json }

    package var form: CheckReport {
        CheckReport(
            kind: kind.rawValue, moment: moment,
            verdict: error.map { .refused($0.code.rawValue) } ?? .accepted,
            checks: findings.map { step, finding in
                CheckReport.Check(
                    name: step.rawValue, finding: finding, failure: finding == .failed ? failure : nil)
            } + receiptChecks, isSigned: isSigned, sections: sections)
    }

    private var sections: [CheckReport.Section] {
        var sections: [CheckReport.Section] = []
        if let content {
            sections.append(
                CheckReport.Section(
                    name: "content", title: isSigned ? "content" : "content, not verified",
                    object: content.object, texts: content.texts))
        }
        if let receipt = receipt?.content {
            sections.append(
                CheckReport.Section(
                    name: "receipt", title: "receipt", object: receipt,
                    texts: receipt.members.map { TokenContent.shown($0.value.string ?? "") }))
        }
        return sections
    }

    /// The receipt's checks, listed after the attestation's checks. They do not affect the verdict.
    private var receiptChecks: [CheckReport.Check] {
        switch kind {
        case .assertion: return []
        case .attestation:
            let error = receipt?.error
            return ReceiptFinding.findings(of: receipt).map { step, finding in
                CheckReport.Check(
                    name: step.rawValue, finding: finding,
                    failure: finding == .failed ? error.map(Self.failure) : nil)
            }
        }
    }

    private static func failure(_ error: ReceiptError) -> CheckReport.Failure {
        CheckReport.Failure(
            code: error.code.rawValue, found: TokenContent.shown(error.found),
            expected: TokenContent.shown(error.expected), advice: error.code.advice)
    }

    private var failure: CheckReport.Failure? {
        error.map { error in
            CheckReport.Failure(
                code: error.code.rawValue, found: TokenContent.shown(error.found),
                expected: TokenContent.shown(error.expected), advice: error.code.advice)
        }
    }
}
