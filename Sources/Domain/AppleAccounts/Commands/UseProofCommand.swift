/// A proof of App Attest at a call that is no sign-in: its challenge is consumed, and the counter of its key
/// rises.
public struct UseProofCommand: Sendable, Hashable {
    public let proof: AppProof
    /// By our clock.
    public let receivedAt: Moment

    public init(proof: AppProof, receivedAt: Moment) {
        (self.proof, self.receivedAt) = (proof, receivedAt)
    }
}
