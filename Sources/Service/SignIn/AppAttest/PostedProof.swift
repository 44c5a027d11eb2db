public import AppAttestation
import AppleAccounts
import Cryptography
import Encodings
public import StrictJSON

/// The unverified proof in a request: an App Attest assertion.
///
/// A malformed proof is not a request error, because monitored mode accepts requests with invalid proofs.
public enum PostedProof: Sendable {
    case malformed
    /// The case is indirect, so that requests without a proof stay small.
    indirect case assertion(AttestedKeyID, [UInt8], clientData: [UInt8])

    /// Maximum size of client data in bytes: twice as much as is needed.
    static let longestClientData = 1024

    /// Reads the `attestation` member. It must be an object with exactly these members.
    public init(_ value: JSONValue) {
        guard let object = value.object, object.members.count == 3 else {
            self = .malformed
            return
        }
        self.init(
            keyID: object["key_id"]?.string, assertion: object["assertion"]?.string,
            clientData: object["client_data"]?.string)
    }

    /// - Parameters:
    ///   - keyID: The key ID that `DCAppAttestService` returned.
    ///   - assertion: The assertion in base64 with padding.
    ///   - clientData: The text whose UTF-8 bytes the app hashed.
    public init(keyID: String?, assertion: String?, clientData: String?) {
        guard let keyID = keyID.flatMap({ AttestedKeyID(base64: $0) }), let assertion, let clientData,
            assertion.utf8.count <= (UnverifiedAssertion.longestObject + 2) / 3 * 4,
            let bytes = Base64.decode(assertion), clientData.utf8.count <= Self.longestClientData
        else {
            self = .malformed
            return
        }
        self = .assertion(keyID, bytes, clientData: Array(clientData.utf8))
    }
}

/// The reason that a proof is invalid.
struct ProofFault: Error {
    let cause: AppCheckCause

    init(_ cause: AppCheckCause) { self.cause = cause }
    init(_ error: AppAttestationError) { cause = AppCheckCause(error) }
}

extension AppCheckCause {
    /// The text is not a challenge that this service made for this purpose and app.
    static let challengeInvalid = AppCheckCause(code: "challenge_invalid", canReAttest: false)
    /// The challenge has expired. The app should request a new challenge and retry.
    static let challengeExpired = AppCheckCause(code: "challenge_expired", canReAttest: false)
    /// The client data is not the expected JSON object.
    static let clientDataMalformed = AppCheckCause(code: "client_data_malformed", canReAttest: false)
    /// The client data does not match this request.
    static let clientDataMismatch = AppCheckCause(code: "client_data_mismatch", canReAttest: false)
    /// The key was never registered for this app, or was deleted.
    static let keyUnknown = AppCheckCause(
        code: AccountRefusal.Code.attestationKeyUnknown.rawValue, canReAttest: true)

    /// Returns `nil` for a refusal that does not concern a proof.
    init?(_ refusal: AccountRefusal.Code) {
        switch refusal {
        case .challengeUsed, .counterNotIncreased: self.init(code: refusal.rawValue, canReAttest: false)
        case .attestationKeyUnknown, .attestationKeyTaken:
            self.init(code: refusal.rawValue, canReAttest: true)
        case .credentialRevoked, .accountNotFound, .nonceExpired, .nonceUsed, .accountExists,
            .callerForbidden, .accountDisabled,
            .attestationKeysFull:
            return nil
        }
    }
}

/// The evidence that an app sends with a request: its App Attest proof and its version.
public struct AppEvidence: Sendable {
    /// The proof; `nil` if the request contains none.
    public var proof: PostedProof?
    /// The app's version. It is unverified, because any client can send any version.
    public var appVersion: String?

    public init(proof: PostedProof? = nil, appVersion: String? = nil) {
        (self.proof, self.appVersion) = (proof, appVersion)
    }
}

/// The client data of an assertion: a JSON object with exactly two members, `challenge` and `sha256`.
///
/// The app hashes the text's exact bytes, so this service never re-encodes the text.
struct ClientData: Sendable {
    let challenge: String
    /// The digest of the signed request data.
    let digest: SHA256Digest

    /// Reads the client data strictly: refuses additional members, repeated members, and base64url with
    /// padding.
    init(parsing bytes: [UInt8]) throws(ProofFault) {
        guard let object = try? JSONValue(parsing: bytes).object, object.members.count == 2,
            let challenge = object["challenge"]?.string, let text = object["sha256"]?.string,
            text.utf8.count == 43, let digest = Base64URL.decode(text).flatMap({ SHA256Digest($0) })
        else { throw ProofFault(.clientDataMalformed) }
        (self.challenge, self.digest) = (challenge, digest)
    }
}
