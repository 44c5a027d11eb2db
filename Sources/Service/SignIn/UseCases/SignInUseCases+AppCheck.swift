import AppAttestation
public import AppleAccounts
import AppleIdentity
public import Commits
import Cryptography
import KeySets

/// A sign-in, together with the App Check result.
public struct CheckedSignIn: Sendable {
    public let outcome: SignInOutcome
    /// The App Check result; `nil` if App Check does not judge the app.
    public let app: AppCheckResult?
}

/// A verified identity token, together with the App Check result for the app that sent it.
public struct CheckedVerification: Sendable {
    public let signIn: VerifiedSignIn
    /// The App Check result; `nil` if App Check does not judge the app.
    public let app: AppCheckResult?
}

// These calls have an identity token, and also judge the app by its bundle ID, which is the token's `aud`.
// The proof covers the token's text.
extension SignInUseCases {
    /// Verifies an identity token from Apple, and judges the app. Stores nothing except the use of the proof.
    ///
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`, `AppCheckRefusal`, `StorageError`. The
    ///   commit throws `AppCheckRefusal`, `StorageError` and `OverloadedError`.
    public func checkedVerification(
        _ request: IdentityTokenRequest, allowed: AppScope
    ) throws -> Step<CheckedVerification> {
        try verify(request, allowed: allowed).then { [self] verified in
            guard let policy = policy(for: verified), let appChecks else {
                return .now(CheckedVerification(signIn: verified, app: nil))
            }
            return try appChecks.check(
                request.evidence, by: policy, vouchingFor: SHA256Digest.hash(request.identityToken)
            ).map { CheckedVerification(signIn: verified, app: $0) }
        }
    }

    /// Verifies the token, judges the app, and signs the user in. Stores nothing before the commit.
    ///
    /// Waits only for a fetch of the token's key, or for the proof's key. The account in the result contains
    /// only credentials for apps that the caller has access to.
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`, `NonceNotMinted`. The commit throws
    ///   `AccountRefusal`, `StorageError` and `OverloadedError`. Both throw `AppCheckRefusal`.
    public func signIn(_ request: SignInRequest, allowed: AppScope) throws -> Step<CheckedSignIn> {
        let moment = now()
        return try verify(request.token, allowed: allowed).then { [self] verified in
            guard let policy = policy(for: verified), let appChecks else {
                return try unjudgedSignIn(verified, from: request, at: moment, allowed: allowed)
            }
            return try appChecks.judge(
                request.token.evidence, by: policy,
                vouchingFor: SHA256Digest.hash(request.token.identityToken),
                at: moment
            ).then { [self] judged in
                guard let judged else {
                    return try unjudgedSignIn(verified, from: request, at: moment, allowed: allowed)
                }
                return try signIn(verified, from: request, judged, appChecks, at: moment, allowed: allowed)
            }
        }
    }

    /// Returns the policy for the token's app; `nil` if App Check does not judge the app.
    private func policy(for verified: VerifiedSignIn) -> AppCheckPolicy? {
        appChecks?.policies.ofApp(verified.identity.clientID)
    }

    private func unjudgedSignIn(
        _ verified: VerifiedSignIn, from request: SignInRequest, at moment: Moment, allowed: AppScope
    ) throws -> Step<CheckedSignIn> {
        let (command, finish) = try prepare(verified, from: request, at: moment, allowed: allowed)
        return commits.step(command) { CheckedSignIn(outcome: finish($0), app: nil) }
    }

    private func signIn(
        _ verified: VerifiedSignIn, from request: SignInRequest, _ judged: JudgedApp, _ appChecks: AppChecks,
        at moment: Moment, allowed: AppScope
    ) throws -> Step<CheckedSignIn> {
        if let decision = judged.decision(), let refusal = decision.refusal {
            appChecks.count(decision, of: judged, at: moment)
            guard let proof = judged.proof else { throw refusal }
            // This command consumes the challenge without the sign-in.
            let command = UseProofCommand(proof: proof, receivedAt: moment)
            return commits.step(command, then: { _ in throw refusal })
        }
        let (command, finish) = try prepare(
            verified, from: request, proof: judged.proof, demandsProof: judged.demandsProof, at: moment,
            allowed: allowed)
        return commits.step(
            command,
            then: { result in
                do {
                    let outcome = finish(try result.get())
                    return .now(
                        CheckedSignIn(
                            outcome: outcome,
                            app: try appChecks.conclude(judged, refusedFor: outcome.proofRefusal, at: moment))
                    )
                } catch let refusal as AccountRefusal {
                    // The transaction refused either the proof or, for a reason that does not concern the
                    // app, the sign-in.
                    throw appChecks.error(for: refusal, of: judged, at: moment)
                }
            })
    }
}
