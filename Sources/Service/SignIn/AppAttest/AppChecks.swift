public import AppAttestation
public import AppleAccounts
public import Certificates
public import Commits
public import Cryptography
import Encodings
import JOSE

/// App Attest for the calls: challenges, keys, and the proofs of requests.
///
/// A challenge has no row until it is used. The transaction that raises
/// the counter of the key then consumes it, whatever the result is.
public final class AppChecks: Sendable {
    public let appCheck: AppCheck
    public var policies: AppCheckPolicies { appCheck.policies }
    let root: TrustAnchor
    /// `nil` if no receipts are kept.
    let receipts: AppReceipts?
    let deployment: Deployment
    let store: any AppAttestStore
    public let commits: GroupCommit<AccountCommand>
    let challenges: ChallengeMint
    let failures: FailedChallenges
    let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - root: The root of attestations: Apple's, except in development.
    ///   - receipts: Keeps the receipts of attestations; `nil` if receipts are not exchanged.
    ///   - nonceKey: The same in all replicas, because each replica must accept all challenges.
    public init(
        _ appCheck: AppCheck, root: TrustAnchor, receipts: AppReceipts? = nil, deployment: Deployment,
        store: any AppAttestStore, commits: GroupCommit<AccountCommand>, nonceKey: NonceKey,
        now: @escaping @Sendable () -> Moment
    ) {
        (self.appCheck, self.root, self.receipts) = (appCheck, root, receipts)
        (self.deployment, self.store, self.commits) = (deployment, store, commits)
        challenges = ChallengeMint(key: nonceKey)
        failures = FailedChallenges()
        self.now = now
    }

    /// Returns the policy of a request that names an app and no bundle ID: the policy of the bundle ID in the
    /// proof's challenge, with the strictest mode of the app.
    ///
    /// - Returns: `nil` if no bundle ID of the app is judged.
    public func policy(of app: App, for evidence: AppEvidence) -> AppCheckPolicy? {
        let bundleIDs = app.clientIDs.map(\.rawValue)
        guard let strictest = policies.strictest(of: bundleIDs) else { return nil }
        guard case .assertion(_, _, let clientData)? = evidence.proof,
            let challenge = try? ClientData(parsing: clientData).challenge
        else { return strictest }
        let proven = bundleIDs.lazy.compactMap(policies.ofApp)
            .first { challenges.isChallenge(challenge, .assertion, for: $0.appID) }
        return proven?.atLeast(strictest.mode) ?? strictest
    }

    /// Judges a request: verifies its proof, consumes it, and counts the result.
    ///
    /// - Parameters:
    ///   - policy: `nil` if nothing is judged.
    ///   - digest: The digest that the proof must vouch for.
    /// - Returns: `nil` if nothing is judged.
    /// - Throws: `AppCheckRefusal` in enforced mode, also from the commit, which throws `StorageError` and
    ///   `OverloadedError` too.
    public func check(
        _ evidence: AppEvidence, by policy: AppCheckPolicy?, vouchingFor digest: SHA256Digest
    ) throws -> Step<AppCheckResult?> {
        let moment = now()
        return try judge(evidence, by: policy, vouchingFor: digest, at: moment).then { [self] judged in
            guard let judged else { return .now(nil) }
            guard let proof = judged.proof else { return .now(try conclude(judged, at: moment)) }
            return commits.step(
                UseProofCommand(proof: proof, receivedAt: moment),
                then: { [self] in .now(try conclude(judged, after: $0, at: moment)) })
        }
    }

    /// Verifies a proof as far as possible before the transaction. Waits only for the database.
    ///
    /// The cheap checks come first, and a foreign or expired challenge costs no look-up.
    func judge(
        _ evidence: AppEvidence, by policy: AppCheckPolicy?, vouchingFor digest: SHA256Digest,
        at moment: Moment
    ) throws -> Step<JudgedApp?> {
        guard let policy, policy.mode != .off else { return .now(nil) }
        @Sendable func failed(_ fault: ProofFault, _ challenge: UsedNonce?) -> JudgedApp {
            let stored = challenge.flatMap { failures.admit($0, at: moment) }
            return JudgedApp(
                policy: policy, appVersion: evidence.appVersion,
                proof: stored.map { AppProof(challenge: $0, assertion: nil) },
                found: .doesNotHold(fault.cause))
        }
        switch evidence.proof {
        case nil:
            return .now(
                JudgedApp(policy: policy, appVersion: evidence.appVersion, proof: nil, found: .absent))
        case .malformed: return .now(failed(ProofFault(.proofMalformed), nil))
        case .assertion(let keyID, let object, let clientData):
            let challenge: UsedNonce
            do throws(ProofFault) {
                let data = try ClientData(parsing: clientData)
                challenge = try challenges.challenge(
                    data.challenge, .assertion, for: policy.appID, at: moment)
                guard data.digest == digest else {
                    return .now(failed(ProofFault(.clientDataMismatch), challenge))
                }
            } catch {
                return .now(failed(error, nil))
            }
            let judged = { @Sendable (key: AttestedKeyRecord?) -> JudgedApp in
                do throws(ProofFault) {
                    let assertion = try Self.verify(object, clientData, by: key, policy)
                    return JudgedApp(
                        policy: policy, appVersion: evidence.appVersion,
                        proof: AppProof(
                            challenge: challenge,
                            assertion: AssertedCounter(
                                keyID: keyID, appID: policy.appID, counter: assertion.counter,
                                facts: AttestedAppFacts(assertion.extensions))),
                        found: .holds, extensions: assertion.extensions)
                } catch {
                    return failed(error, challenge)
                }
            }
            if let key = store.attestedKeyWithoutWaiting(keyID) { return .now(judged(key)) }
            return .later { [store] in judged(try await store.attestedKey(keyID)) }
        }
    }

    private static func verify(
        _ object: [UInt8], _ clientData: [UInt8], by record: AttestedKeyRecord?, _ policy: AppCheckPolicy
    ) throws(ProofFault) -> VerifiedAssertion {
        guard let record, record.appID == policy.appID,
            let key = try? ECPublicKey(point: record.publicKey)
        else { throw ProofFault(.keyUnknown) }
        do throws(AppAttestationError) {
            guard record.environment == policy.environment else {
                throw AppAttestationError(.environmentMismatch)
            }
            return try AssertionVerifier(appID: policy.appID).verify(
                UnverifiedAssertion(object), by: key, clientDataHash: ClientDataHash(hashing: clientData),
                after: record.counter)
        } catch {
            throw ProofFault(error)
        }
    }

    /// Counts the request under its kind.
    ///
    /// - Parameter refusal: Refusal of the proof by the transaction.
    ///   Other refusals count as no refusal of the proof.
    /// - Throws: `AppCheckRefusal` in enforced mode.
    func conclude(
        _ judged: JudgedApp, refusedFor refusal: AccountRefusal.Code? = nil, at moment: Moment
    ) throws(AppCheckRefusal) -> AppCheckResult {
        let found = judged.found(refusedFor: refusal)
        guard let decision = judged.decision(refusedFor: refusal) else {
            preconditionFailure("a request was judged in mode off")
        }
        count(decision, of: judged, at: moment)
        if let refusal = decision.refusal { throw refusal }
        return AppCheckResult(kind: decision.kind, found: found, extensions: judged.extensions)
    }

    func count(_ decision: AppCheckDecision, of judged: JudgedApp, at moment: Moment) {
        appCheck.counts.add(decision.kind, for: judged.policy.target, at: moment.milliseconds / 1000)
    }

    /// Counts the request by the result of the transaction that consumed its proof.
    ///
    /// - Throws: `AppCheckRefusal` in enforced mode; other errors of the transaction.
    func conclude(
        _ judged: JudgedApp, after result: Result<Void, any Error>, at moment: Moment
    ) throws -> AppCheckResult {
        do {
            try result.get()
            return try conclude(judged, at: moment)
        } catch let refusal as AccountRefusal {
            return try conclude(judged, refusedFor: refusal.code, at: moment)
        }
    }

    /// Returns the error of a sign-in that the transaction refused: the refusal of its proof, counted, or the
    /// refusal of the sign-in itself, which says nothing about the app.
    func error(for refusal: AccountRefusal, of judged: JudgedApp, at moment: Moment) -> any Error {
        guard AppCheckCause(refusal.code) != nil else { return refusal }
        do throws(AppCheckRefusal) {
            _ = try conclude(judged, refusedFor: refusal.code, at: moment)
            return refusal
        } catch {
            return error
        }
    }
}

/// A request whose proof was verified as far as possible before the transaction.
struct JudgedApp: Sendable {
    /// Policy with a mode other than `off`.
    let policy: AppCheckPolicy
    let appVersion: String?
    /// The proof for the transaction; `nil` if there is nothing to consume.
    let proof: AppProof?
    let found: AppCheckProof
    var extensions: AuthenticatorExtensions?

    /// True if the request passes only with a valid proof.
    var demandsProof: Bool { policy.mode == .enforced }

    /// The result of the proof.
    ///
    /// - Parameter refusal: Refusal of the proof by the transaction. Other refusals count as no refusal of
    ///   the proof, and an earlier fault of the proof remains the cause.
    func found(refusedFor refusal: AccountRefusal.Code? = nil) -> AppCheckProof {
        guard found == .holds, let cause = refusal.flatMap({ AppCheckCause($0) }) else { return found }
        return .doesNotHold(cause)
    }

    func decision(refusedFor refusal: AccountRefusal.Code? = nil) -> AppCheckDecision? {
        policy.decision(on: found(refusedFor: refusal), appVersion: appVersion)
    }
}

/// Result of judging an accepted request, as callers see it.
public struct AppCheckResult: Sendable, Equatable {
    public let kind: AppCheckKind
    /// Reason why the proof is invalid; `nil` for other kinds.
    public let cause: AppCheckCause?
    /// Facts of iOS 27 in a valid assertion; `nil` for other kinds. They have no effect on the result.
    public let extensions: AuthenticatorExtensions?

    init(kind: AppCheckKind, found: AppCheckProof, extensions: AuthenticatorExtensions?) {
        self.kind = kind
        switch found {
        case .holds: (cause, self.extensions) = (nil, extensions)
        case .doesNotHold(let cause): (self.cause, self.extensions) = (cause, nil)
        case .absent: (cause, self.extensions) = (nil, nil)
        }
    }
}
