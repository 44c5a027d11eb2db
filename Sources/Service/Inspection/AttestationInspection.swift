package import AppAttestation
package import AppleAccounts
import Encodings
package import JOSE

/// Runs the verifiers of App Attest on one object and reports the result of each step.
package struct AttestationInspection: Sendable {
    /// The values that the object must match, for each kind of object.
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

    /// - Parameter text: The object in base64 or base64url. White space in it is ignored.
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

    /// The receipt does not decide about the attestation, so an error in it is part of the report only.
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
