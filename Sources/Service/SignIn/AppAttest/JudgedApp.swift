import AppAttestation
import AppleAccounts

/// A request whose proof is verified as far as this is possible before the transaction.
struct JudgedApp: Sendable {
    /// Not in mode `off`.
    let policy: AppCheckPolicy
    let appVersion: String?
    /// For the transaction. `nil` when there is nothing to consume.
    let proof: AppProof?
    let found: AppCheckProof
    var extensions: AuthenticatorExtensions?

    /// True if only a proof that holds lets the request pass.
    var demandsProof: Bool { policy.mode == .enforced }

    /// The result of the proof.
    ///
    /// - Parameter refusal: Refusal of the proof by the transaction. A refusal for another reason counts as
    ///   none, and an earlier fault of the proof remains the cause.
    func found(refusedFor refusal: AccountRefusal.Code? = nil) -> AppCheckProof {
        guard found == .holds, let cause = refusal.flatMap({ AppCheckCause($0) }) else { return found }
        return .doesNotHold(cause)
    }

    func decision(refusedFor refusal: AccountRefusal.Code? = nil) -> AppCheckDecision? {
        policy.decision(on: found(refusedFor: refusal), appVersion: appVersion)
    }
}
