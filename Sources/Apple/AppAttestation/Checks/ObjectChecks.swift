import Cryptography
import Encodings
import JOSE

/// Refuses an attestation in another format of WebAuthn, such as `apple`, which passkeys use.
struct FormatCheck: Sendable {
    func check(_ attestation: UnverifiedAttestation) throws(AppAttestationError) {
        guard attestation.format.utf8.elementsEqual(UnverifiedAttestation.format.utf8) else {
            throw AppAttestationError(
                .formatMismatch, found: attestation.format, expected: UnverifiedAttestation.format)
        }
    }
}

/// Refuses an attestation of a key whose ID the app did not send.
struct KeyIDCheck: Sendable {
    let keyID: AttestedKeyID

    func check(_ key: ECPublicKey) throws(AppAttestationError) {
        let attested = AttestedKeyID(ofKey: key.point)
        guard attested == keyID else {
            throw AppAttestationError(.keyIDMismatch, found: attested.base64, expected: keyID.base64)
        }
    }
}

/// Refuses an assertion that another key signed, or that is for other client data.
///
/// Devices sign the nonce, which is already a hash: the signature is over the hash of a hash. Signatures with
/// a large s are valid, because devices make them.
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

/// Refuses an object of another app. It also stops an app that was signed again by another team.
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

/// Refuses an attestation whose counter is not 0: its key is not new.
struct NewKeyCounterCheck: Sendable {
    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.counter == 0 else {
            throw AppAttestationError(.counterNotZero, found: "\(data.counter)", expected: "0")
        }
    }
}

/// Refuses an assertion whose counter is not above the last counter of its key: a replay, or a late
/// assertion.
///
/// Gaps are normal, because devices also count assertions that are never sent. The store must raise the
/// counter in one compare-and-set; this check alone does not stop two replays at the same time.
struct CounterIncreaseCheck: Sendable {
    let lastCounter: UInt32

    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.counter > lastCounter else {
            throw AppAttestationError(
                .counterNotIncreased, found: "\(data.counter)", expected: "more than \(lastCounter)")
        }
    }
}

/// Refuses keys of another environment: a development key proves only that a developer runs the app.
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

/// Refuses authenticator data that names a key whose ID the app did not send.
struct CredentialIDCheck: Sendable {
    let keyID: AttestedKeyID

    func check(_ credential: AttestedCredential) throws(AppAttestationError) {
        guard credential.credentialID.elementsEqual(keyID.digest) else {
            throw AppAttestationError(
                .credentialIDMismatch, found: Base64.encode(credential.credentialID), expected: keyID.base64)
        }
    }
}

/// Refuses authenticator data whose key differs from the key of the leaf certificate.
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
