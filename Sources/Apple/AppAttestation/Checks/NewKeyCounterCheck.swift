/// Refuses an attestation whose counter is not 0: it is not of a new key.
struct NewKeyCounterCheck: Sendable {
    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.counter == 0 else {
            throw AppAttestationError(.counterNotZero, found: "\(data.counter)", expected: "0")
        }
    }
}
