import AppAttestation
public import AppleAccounts
import AppleIdentity
public import Commits
import Cryptography
import KeySets

/// A sign-in, with the result of judging its app.
public struct CheckedSignIn: Sendable {
    public let outcome: SignInOutcome
    /// `nil` if the app is not judged.
    public let app: AppCheckResult?
}

/// A verified identity token, with the result of judging the app that sent it.
public struct CheckedVerification: Sendable {
    public let signIn: VerifiedSignIn
    /// `nil` if the app is not judged.
    public let app: AppCheckResult?
}

// Calls with an identity token that also judge the app, by its bundle
// ID, which is the token's `aud`. A proof covers the text of the token.
extension SignInUseCases {
    /// Verifies Apple's identity token, and judges the app. Stores only the use of a proof.
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
    /// Waits only for a fetch of the token's key, or of the key of a proof. The account in the result lists
    /// only the credentials for apps that the caller may see.
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`, `NonceNotMinted`. The commit throws `AccountRefusal`,
    ///   `StorageError` and `OverloadedError`. Both throw `AppCheckRefusal`.
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

    /// Returns the App Check policy of the token's app; `nil` if the app is not judged.
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
            // Consumes the challenge without trying the sign-in.
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
                    // The sign-in was refused for its proof, or for a reason that says nothing about the app.
                    throw appChecks.error(for: refusal, of: judged, at: moment)
                }
            })
    }
}
