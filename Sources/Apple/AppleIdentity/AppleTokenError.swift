public import Encodings
import JOSE

/// The reason why a token was refused: one code per cause. Match on `code`.
///
/// The raw values appear in responses and never change their meaning. `detail` may repeat claim values, so it
/// is for a debugger, never for a log or a response.
public struct AppleTokenError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The token is longer than 16 KiB.
        case tokenTooLarge = "token_too_large"
        /// The token is not three segments of strict base64url, or its JSON is not strict.
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
        /// The token is a notification, but the caller expected an identity token.
        case notAnIdentityToken = "not_an_identity_token"
        /// The token is an identity token, or another token without `events`, but the caller expected a
        /// notification.
        case notANotification = "not_a_notification"
        /// A claim that Apple always sends is missing.
        case claimMissing = "claim_missing"
        /// A claim has the wrong JSON type, or its time is outside the years 1970 to 9999.
        case claimMalformed = "claim_malformed"
        case issuerMismatch = "issuer_mismatch"
        case audienceMismatch = "audience_mismatch"
        case tokenExpired = "token_expired"
        /// `nbf` is ahead of the service's clock by more than the leeway.
        case tokenNotYetValid = "token_not_yet_valid"
        /// `iat`, `auth_time` or `event_time` is ahead of the service's clock by more than the leeway.
        case issuedInFuture = "issued_in_future"
        /// `sub` is empty, longer than 255 characters, or has control characters.
        case subjectInvalid = "subject_invalid"
        case nonceMissing = "nonce_missing"
        case nonceMismatch = "nonce_mismatch"
        case codeHashMissing = "code_hash_missing"
        case codeHashMismatch = "code_hash_mismatch"
        case accessTokenHashMissing = "access_token_hash_missing"
        case accessTokenHashMismatch = "access_token_hash_mismatch"
        /// `events` has none of the three shapes that Apple has used.
        case eventsMalformed = "events_malformed"
    }

    public let code: Code
    /// The verification step that failed.
    public let step: VerificationStep
    public let detail: String

    /// Creates the error. If `step` is `nil`, uses the first step that throws the code.
    public init(_ code: Code, at step: VerificationStep? = nil, detail: String = "") {
        (self.code, self.step, self.detail) = (code, step ?? code.step, detail)
    }
}

extension AppleTokenError: CustomDebugStringConvertible {
    public var description: String { "token refused: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}

extension AppleTokenError.Code {
    /// The step that throws this code, or the first such step if there are several.
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
    /// Converts a `JOSE` error.
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

/// Verification steps, in order of execution.
///
/// The first step that fails determines the error, so all earlier steps have passed and no later step runs.
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

    /// Returns the verification steps for a token of this kind.
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

/// Kinds of token that Apple signs with the same keys. A verifier never accepts one kind in place of the
/// other.
public enum TokenKind: String, Sendable, CaseIterable {
    case identityToken = "identity-token"
    case notification
}
