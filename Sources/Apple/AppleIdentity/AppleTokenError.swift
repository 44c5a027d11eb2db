public import Encodings
import JOSE

/// Reason for the refusal of a token: one code per cause. Match on `code`.
///
/// The raw values appear in responses and never change their meaning. `detail` may repeat claim values: it is
/// for a debugger, never for a log or a response.
public struct AppleTokenError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// More than 16 KiB.
        case tokenTooLarge = "token_too_large"
        /// Not three segments of strict base64url around strict JSON.
        case tokenMalformed = "token_malformed"
        /// `alg` is not RS256.
        case algorithmNotAllowed = "algorithm_not_allowed"
        /// The header has `crit`, `b64`, `jwk`, `jku`, `x5u` or `x5c`.
        case headerNotAllowed = "header_not_allowed"
        /// `kid` is absent, empty, not a string, or longer than 64 characters.
        case keyIDInvalid = "key_id_invalid"
        /// Apple's key set has no usable key with this ID.
        case unknownKey = "unknown_key"
        case signatureInvalid = "signature_invalid"
        /// A notification where an identity token was expected.
        case notAnIdentityToken = "not_an_identity_token"
        /// An identity token, or anything else without `events`, where a notification was expected.
        case notANotification = "not_a_notification"
        /// A claim that Apple always sends is absent.
        case claimMissing = "claim_missing"
        /// A claim has the wrong JSON type, or a time outside the years 1970 to 9999.
        case claimMalformed = "claim_malformed"
        case issuerMismatch = "issuer_mismatch"
        case audienceMismatch = "audience_mismatch"
        case tokenExpired = "token_expired"
        /// `nbf` lies ahead of our clock by more than the leeway.
        case tokenNotYetValid = "token_not_yet_valid"
        /// `iat`, `auth_time` or `event_time` lies ahead of our clock by more than the leeway.
        case issuedInFuture = "issued_in_future"
        /// `sub` is empty, longer than 255 characters, or has control characters.
        case subjectInvalid = "subject_invalid"
        case nonceMissing = "nonce_missing"
        case nonceMismatch = "nonce_mismatch"
        case codeHashMissing = "code_hash_missing"
        case codeHashMismatch = "code_hash_mismatch"
        case accessTokenHashMissing = "access_token_hash_missing"
        case accessTokenHashMismatch = "access_token_hash_mismatch"
        /// `events` is in none of the three shapes that Apple has used.
        case eventsMalformed = "events_malformed"
    }

    public let code: Code
    /// The verification step that failed.
    public let step: VerificationStep
    public let detail: String

    /// `step` is given only when the code belongs to more than one step.
    public init(_ code: Code, at step: VerificationStep? = nil, detail: String = "") {
        (self.code, self.step, self.detail) = (code, step ?? code.step, detail)
    }
}

extension AppleTokenError: CustomDebugStringConvertible {
    public var description: String { "token refused: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}

extension AppleTokenError.Code {
    /// The step that throws this code; the first of several steps.
    var step: VerificationStep {
        switch self {
        case .tokenTooLarge: .size
        case .algorithmNotAllowed: .algorithm
        case .headerNotAllowed: .header
        case .keyIDInvalid: .keyID
        case .unknownKey: .key
        case .signatureInvalid: .signature
        case .tokenMalformed: .form
        case .notAnIdentityToken, .notANotification: .kind
        case .claimMissing, .claimMalformed: .claims
        case .tokenNotYetValid: .notBefore
        case .issuerMismatch: .issuer
        case .audienceMismatch: .audience
        case .tokenExpired: .expiration
        case .issuedInFuture: .issuedAt
        case .subjectInvalid: .subject
        case .nonceMissing, .nonceMismatch: .nonce
        case .codeHashMissing, .codeHashMismatch: .codeHash
        case .accessTokenHashMissing, .accessTokenHashMismatch: .accessTokenHash
        case .eventsMalformed: .events
        }
    }
}

extension AppleTokenError {
    /// Converts an error of `JOSE`.
    init(_ error: JOSEError) {
        let code: Code =
            switch error.code {
            case .jwsMalformed: .tokenMalformed
            case .algorithmNotAllowed: .algorithmNotAllowed
            case .headerNotAllowed: .headerNotAllowed
            case .keyIDInvalid: .keyIDInvalid
            case .keyUnusable, .keySetMalformed: .unknownKey
            case .signingFailed: .signatureInvalid
            }
        self.init(code, detail: error.detail)
    }
}

/// The steps of verification, in the order of their execution.
///
/// The first step that fails decides the error: all earlier steps
/// have passed, and later steps were not executed.
public enum VerificationStep: String, Sendable, CaseIterable {
    case size
    case form
    case algorithm
    case header
    case keyID = "key ID"
    case key
    case signature
    case payload
    case kind
    case claims
    case notBefore = "not before"
    case issuer
    case audience
    case expiration
    case issuedAt = "issued at"
    case subject
    case nonce
    case codeHash = "code hash"
    case accessTokenHash = "access token hash"
    case events

    /// The steps for a token of this kind.
    public static func steps(for kind: TokenKind) -> [VerificationStep] {
        allCases.filter { step in
            switch step {
            case .subject, .nonce, .codeHash, .accessTokenHash: kind == .identityToken
            case .events: kind == .notification
            case .size, .form, .algorithm, .header, .keyID, .key, .signature, .payload, .kind, .claims,
                .notBefore,
                .issuer, .audience, .expiration, .issuedAt:
                true
            }
        }
    }
}

/// The two kinds of token that Apple signs with the same keys. Neither is accepted in place of the other.
public enum TokenKind: String, Sendable, CaseIterable {
    case identityToken = "identity-token"
    case notification
}
