/// Reason of the refusal of a receipt: one code per cause. Match on `code`.
///
/// A receipt decides nothing about a key or a request: it is for the risk metric only.
public typealias ReceiptError = StepError<ReceiptErrorCode>

public enum ReceiptErrorCode: String, StepErrorCode {
    public static let object = "receipt"

    /// More than 16 KiB.
    case tooLarge = "receipt_too_large"
    /// Not exactly one signed message with one signer and content.
    case malformed = "receipt_malformed"
    /// The signer's certificate does not lead to the pinned root.
    case chainUntrusted = "receipt_chain_untrusted"
    case certificateExpired = "receipt_certificate_expired"
    case certificateNotYetValid = "receipt_certificate_not_yet_valid"
    /// The signer has not signed this content.
    case signatureInvalid = "receipt_signature_invalid"
    /// The content is not a set of fields, or a field is absent, occurs twice, or has another form.
    case contentMalformed = "receipt_content_malformed"
    /// For another app.
    case appIDMismatch = "receipt_app_id_mismatch"
    /// For another key.
    case keyMismatch = "receipt_key_mismatch"
    /// A receipt of an attestation where a refreshed receipt was expected, or the reverse.
    case kindMismatch = "receipt_kind_mismatch"
    /// Of the other environment.
    case environmentMismatch = "receipt_environment_mismatch"
    /// For another attestation of the key.
    case clientHashMismatch = "receipt_client_hash_mismatch"
    /// Created more than 5 minutes ago, or in the future.
    case notFresh = "receipt_not_fresh"
    case expired = "receipt_expired"
}
