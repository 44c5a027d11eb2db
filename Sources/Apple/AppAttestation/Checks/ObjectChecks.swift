import Cryptography
import Encodings
import JOSE

/// Refuses an attestation in another WebAuthn format, for example `apple`, which passkeys use.
struct FormatCheck: Sendable {
    func check(_ attestation: UnverifiedAttestation) throws(AppAttestationError) {
        guard attestation.format.utf8.elementsEqual(UnverifiedAttestation.format.utf8) else {
            throw AppAttestationError(
                .formatMismatch, found: attestation.format, expected: UnverifiedAttestation.format)
        }
    }
}

/// Refuses an attestation whose key does not have the key ID that the app sent.
struct KeyIDCheck: Sendable {
    let keyID: AttestedKeyID

    func check(_ key: ECPublicKey) throws(AppAttestationError) {
        let attested = AttestedKeyID(ofKey: key.point)
        guard attested == keyID else {
            throw AppAttestationError(.keyIDMismatch, found: attested.base64, expected: keyID.base64)
        }
    }
}

/// Refuses an assertion that was signed by another key, or is for other client data.
///
/// Devices sign the nonce, which is already a hash, so the signature is over the hash of a hash. Signatures
/// with a large s are valid, because devices produce them.
struct AssertionSignatureCheck: Sendable {
    let key: ECPublicKey
    let clientDataHash: ClientDataHash

    func check(_ assertion: UnverifiedAssertion) throws(AppAttestationError) {
        let nonce = clientDataHash.nonce(after: assertion.authenticatorData)
        guard key.isValidDERSignature(Array(assertion.signature), for: nonce.bytes[...]) else {
            throw AppAttestationError(
                .signatureInvalid, found: "a signature that is not by this key, or not of this client data",
                expected: "a signature by the key \(Base64.encode(key.point)) of \(Hexadecimal.encode(nonce))"
            )
        }
    }
}

/// Refuses an object from another app, including an app that another team has re-signed.
struct AppIDCheck: Sendable {
    let appID: AppID

    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.appIDHash.elementsEqual(appID.digest) else {
            throw AppAttestationError(
                .appIDMismatch, found: Hexadecimal.encode(data.appIDHash),
                expected: "\(Hexadecimal.encode(appID.digest)), the hash of \(appID.text)")
        }
    }
}

/// Refuses an attestation whose counter is not 0, because its key is not new.
struct NewKeyCounterCheck: Sendable {
    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.counter == 0 else {
            throw AppAttestationError(.counterNotZero, found: "\(data.counter)", expected: "0")
        }
    }
}

/// Refuses an assertion whose counter is not above the key's
/// last counter, because it is a replay or arrived late.
///
/// Gaps are normal, because devices also count assertions that are never sent. The store must raise the
/// counter in one compare-and-set, because this check alone does not stop two simultaneous replays.
struct CounterIncreaseCheck: Sendable {
    let lastCounter: UInt32

    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.counter > lastCounter else {
            throw AppAttestationError(
                .counterNotIncreased, found: "\(data.counter)", expected: "more than \(lastCounter)")
        }
    }
}

/// Refuses keys from another environment: a development key proves only that a developer runs the app.
struct EnvironmentCheck: Sendable {
    let environment: AttestationEnvironment

    func check(_ credential: AttestedCredential) throws(AppAttestationError) {
        guard let found = AttestationEnvironment(aaguid: credential.aaguid) else {
            throw AppAttestationError(
                .environmentUnknown, found: "AAGUID \(Hexadecimal.encode(credential.aaguid))",
                expected: environment.rawValue)
        }
        guard found == environment else {
            throw AppAttestationError(
                .environmentMismatch, found: found.rawValue, expected: environment.rawValue)
        }
    }
}

/// Refuses authenticator data whose credential ID is not the key ID that the app sent.
struct CredentialIDCheck: Sendable {
    let keyID: AttestedKeyID

    func check(_ credential: AttestedCredential) throws(AppAttestationError) {
        guard credential.credentialID.elementsEqual(keyID.digest) else {
            throw AppAttestationError(
                .credentialIDMismatch, found: Base64.encode(credential.credentialID), expected: keyID.base64)
        }
    }
}

/// Refuses authenticator data whose key is not the leaf certificate's key.
struct CredentialKeyCheck: Sendable {
    let key: ECPublicKey

    func check(_ credential: AttestedCredential) throws(AppAttestationError) {
        guard credential.x.elementsEqual(key.x), credential.y.elementsEqual(key.y) else {
            throw AppAttestationError(
                .credentialKeyMismatch, found: Base64.encode([4] + credential.x + credential.y),
                expected: Base64.encode(key.point))
        }
    }
}
