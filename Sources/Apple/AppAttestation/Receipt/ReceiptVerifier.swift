public import Certificates
public import JOSE

/// Verifies receipts of App Attest, as Apple's documentation demands ("Assessing fraud risk").
///
/// It does no I/O and reads no clock. It is thread-safe. A receipt must be verified when it arrives: Apple's
/// signing certificates live about 13 months.
public struct ReceiptVerifier: Sendable {
    private let signer: ReceiptSignerCheck
    private let appID: ReceiptAppIDCheck
    private let environment: ReceiptEnvironmentCheck

    /// - Parameter root: `.appleRootG3`, except for tests and the fake Apple.
    public init(root: TrustAnchor, appID: AppID, environment: AttestationEnvironment) {
        signer = ReceiptSignerCheck(root: root)
        self.appID = ReceiptAppIDCheck(appID: appID)
        self.environment = ReceiptEnvironmentCheck(environment: environment)
    }

    /// Returns the content of the receipt, or throws the code of the first step that failed, in the order of
    /// `ReceiptStep`.
    ///
    /// - Parameters:
    ///   - key: The attested key that the receipt must be for.
    ///   - now: Milliseconds since 1970.
    public func verify(
        _ receipt: UnverifiedReceipt, of key: ECPublicKey, from origin: ReceiptOrigin, at now: Int64
    ) throws(ReceiptError) -> VerifiedReceipt {
        guard let message = SignedMessage(receipt.bytes) else {
            throw ReceiptError(
                .malformed, found: "other bytes", expected: "one signed message with one signer and content")
        }
        try signer.check(message, at: now)
        let content = try ReceiptContent(parsing: ReceiptSignatureCheck().content(of: message))
        try appID.check(content)
        try ReceiptKeyCheck(key: key).check(content)
        try ReceiptKindCheck(kind: origin.kind).check(content)
        try environment.check(content)
        switch origin {
        case .attestation(let hash): try ReceiptClientHashCheck(clientDataHash: hash).check(content)
        case .exchange: break
        }
        try ReceiptAgeCheck().check(content, at: now)
        return VerifiedReceipt(receipt.bytes, content)
    }
}
