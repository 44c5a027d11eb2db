import AppAttestation
public import AppleAccounts
import AppleIdentity
public import Commits
import Cryptography
import KeySets

/// A sign-in that goes on, with the result of judging its app.
public struct CheckedSignIn: Sendable {
    public let outcome: SignInOutcome
    /// `nil` where nothing is judged.
    public let app: AppCheckResult?
}

/// A verified identity token, with the result of judging the app that sent it.
public struct CheckedVerification: Sendable {
    public let signIn: VerifiedSignIn
    /// `nil` where nothing is judged.
    public let app: AppCheckResult?

    /// The next step of a verification.
    public enum Step: Sendable {
        case finished(CheckedVerification)
        /// The use of a proof.
        case commit(PendingCommit<CheckedVerification>)
    }
}

// Calls with an identity token that also judge the app, by its bundle ID, which is the token's `aud`. A proof
// vouches for the text of the token.
extension SignInUseCases {
    /// Verifies Apple's identity token, and judges the app. Stores nothing but the use of a proof.
    ///
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`, `AppCheckRefusal`, `StorageError`. The
    ///   commit throws `AppCheckRefusal`, `StorageError` and `OverloadedError`.
    public func checkedVerification(
        _ request: IdentityTokenRequest, allowed: AppScope
    ) throws -> Step<CheckedVerification.Step> {
        try verify(request, allowed: allowed).then { verified in
            let moment = now()
            return try judge(verified, request, at: moment).map { judged in
                guard let appChecks, let judged else {
                    return .finished(CheckedVerification(signIn: verified, app: nil))
                }
                guard let proof = judged.proof else {
                    let result = try appChecks.conclude(judged, at: moment)
                    return .finished(CheckedVerification(signIn: verified, app: result))
                }
                let command = UseProofCommand(proof: proof, receivedAt: moment)
                return .commit(
                    PendingCommit(
                        command,
                        finishing: { result in
                            CheckedVerification(
                                signIn: verified,
                                app: try appChecks.conclude(judged, after: result, at: moment))
                        }))
            }
        }
    }

    /// Verifies the token, judges the app, and returns the command to commit. Stores nothing by itself.
    ///
    /// - Throws: Like `signIn`; also `AppCheckRefusal`, here and from the commit.
    public func checkedSignIn(
        _ request: SignInRequest, allowed: AppScope
    ) throws -> Step<PendingCommit<CheckedSignIn>> {
        let moment = now()
        return try verify(request.token, allowed: allowed).then { verified in
            try judge(verified, request.token, at: moment).map { judged in
                try pendingSignIn(verified, from: request, judged, at: moment, allowed: allowed)
            }
        }
    }

    private func judge(
        _ verified: VerifiedSignIn, _ request: IdentityTokenRequest, at moment: Moment
    ) throws -> Step<JudgedApp?> {
        guard let appChecks else { return .now(nil) }
        let policy = appChecks.policies.ofApp(verified.identity.clientID)
        guard policy != nil else { return .now(nil) }
        return try appChecks.judge(
            request.evidence, by: policy, vouchingFor: SHA256Digest.hash(request.identityToken), at: moment)
    }

    private func pendingSignIn(
        _ verified: VerifiedSignIn, from request: SignInRequest, _ judged: JudgedApp?, at moment: Moment,
        allowed: AppScope
    ) throws -> PendingCommit<CheckedSignIn> {
        guard let appChecks, let judged else {
            return try pendingSignIn(verified, from: request, at: moment, allowed: allowed)
                .finishing { CheckedSignIn(outcome: try $0.get(), app: nil) }
        }
        if let decision = judged.decision(), let refusal = decision.refusal {
            appChecks.count(decision, of: judged, at: moment)
            guard let proof = judged.proof else { throw refusal }
            // The challenge is consumed, and the sign-in is not tried.
            let command = UseProofCommand(proof: proof, receivedAt: moment)
            return PendingCommit(command, finishing: { _ in throw refusal })
        }
        let pending = try pendingSignIn(
            verified, from: request, proof: judged.proof, demandsProof: judged.demandsProof, at: moment,
            allowed: allowed)
        return pending.finishing { result in
            do {
                let outcome = try result.get()
                return CheckedSignIn(
                    outcome: outcome,
                    app: try appChecks.conclude(judged, refusedFor: outcome.proofRefusal, at: moment))
            } catch let refusal as AccountRefusal {
                // Refused for its proof, or for a reason of its own, which is not judged.
                throw appChecks.error(for: refusal, of: judged, at: moment)
            }
        }
    }
}
