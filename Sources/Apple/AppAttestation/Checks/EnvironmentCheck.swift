import Encodings

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
