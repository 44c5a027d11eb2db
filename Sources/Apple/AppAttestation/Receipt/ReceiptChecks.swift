import Certificates
import Encodings
import JOSE

/// Refuses a receipt if its signer's certificate does not chain to the pinned root, or is not valid at this
/// time.
struct ReceiptSignerCheck: Sendable {
    let root: TrustAnchor

    /// - Parameter now: Milliseconds since 1970.
    func check(_ message: borrowing SignedMessage, at now: Int64) throws(ReceiptError) {
        do throws(CertificateChainError) {
            try message.checkSigner(under: root, at: now / 1000)
        } catch {
            let code: ReceiptError.Code =
                switch error.code {
                case .untrusted: .chainUntrusted
                case .expired: .certificateExpired
                case .notYetValid: .certificateNotYetValid
                }
            throw ReceiptError(
                code, found: error.detail, expected: "a signer under the pinned root, valid at this time")
        }
    }
}

/// Refuses a receipt whose content was modified, or that another key has signed.
struct ReceiptSignatureCheck: Sendable {
    /// Returns the signed content, if the signature is valid.
    func content(of message: borrowing SignedMessage) throws(ReceiptError) -> [UInt8] {
        guard let content = message.verifiedContent() else {
            throw ReceiptError(
                .signatureInvalid, found: "a signature that is not of this content",
                expected: "a signature by the key of the signer's certificate")
        }
        return content
    }
}

/// Refuses another app's receipt (field 2).
struct ReceiptAppIDCheck: Sendable {
    let appID: AppID

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.appID.utf8.elementsEqual(appID.text.utf8) else {
            throw ReceiptError(.appIDMismatch, found: content.appID, expected: appID.text)
        }
    }
}

/// Refuses another key's receipt (field 3, which is the attestation's whole leaf certificate).
///
/// Keys are compared, not certificates, because a key that is attested twice has two certificates.
struct ReceiptKeyCheck: Sendable {
    let key: ECPublicKey

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard let leaf = CertificateHandle(der: content.leaf), let found = try? leaf.ecPublicKey() else {
            throw ReceiptError(
                .keyMismatch, found: "other bytes in field 3", expected: "a certificate with a key on P-256")
        }
        guard found.point == key.point else {
            throw ReceiptError(
                .keyMismatch, found: Base64.encode(found.point), expected: Base64.encode(key.point))
        }
    }
}

/// Refuses an attestation's receipt if a refreshed receipt is expected, and the reverse (field 6).
struct ReceiptKindCheck: Sendable {
    let kind: ReceiptKind

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.kind == kind else {
            throw ReceiptError(.kindMismatch, found: content.kind.rawValue, expected: kind.rawValue)
        }
    }
}

/// Refuses a receipt from the other environment (field 7).
struct ReceiptEnvironmentCheck: Sendable {
    let environment: AttestationEnvironment

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.environment == environment else {
            throw ReceiptError(
                .environmentMismatch, found: content.environment.rawValue, expected: environment.rawValue)
        }
    }
}

/// Refuses a receipt that belongs to another attestation of the same key (field 4).
///
/// Do not use this check for refreshed receipts, because Apple corrupts their hash by converting it through
/// UTF-8.
struct ReceiptClientHashCheck: Sendable {
    let clientDataHash: ClientDataHash

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.clientHash.elementsEqual(clientDataHash.bytes) else {
            throw ReceiptError(
                .clientHashMismatch, found: Hexadecimal.encode(content.clientHash),
                expected: Hexadecimal.encode(clientDataHash.bytes))
        }
    }
}

/// Refuses a receipt that is not fresh (fields 12 and 21), because an old receipt has an outdated metric.
struct ReceiptAgeCheck: Sendable {
    /// Maximum age in milliseconds: Apple's 5 minutes.
    static let longest: Int64 = 300_000
    /// Tolerated clock skew in milliseconds: one minute.
    static let leeway: Int64 = 60_000

    /// - Parameter now: Milliseconds since 1970.
    func check(_ content: ReceiptContent, at now: Int64) throws(ReceiptError) {
        let times = now - Self.longest...now + Self.leeway
        guard times.contains(content.createdAt) else {
            throw ReceiptError(
                .notFresh, found: "created at \(RFC3339.text(milliseconds: content.createdAt))",
                expected: "created within 5 minutes before \(Self.text(now))")
        }
        guard content.expiresAt > now else {
            throw ReceiptError(
                .expired, found: "expires at \(RFC3339.text(milliseconds: content.expiresAt))",
                expected: "a time after \(Self.text(now))")
        }
    }

    private static func text(_ milliseconds: Int64) -> String {
        // The text form covers only the years 1970 to 9999.
        (0...253_402_300_799_999).contains(milliseconds)
            ? RFC3339.text(milliseconds: milliseconds) : "another time"
    }
}
