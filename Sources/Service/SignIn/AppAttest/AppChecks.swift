public import AppAttestation
public import AppleAccounts
public import Certificates
public import Commits
public import Cryptography
import Encodings
import JOSE

/// App Attest for API calls: challenges, keys, and proofs in requests.
///
/// A challenge has no row until it is used. The transaction that increments the key's counter also consumes
/// the challenge, even if the request fails.
public final class AppChecks: Sendable {
    public let appCheck: AppCheck
    public var policies: AppCheckPolicies { appCheck.policies }
    let root: TrustAnchor
    /// Stores receipts; `nil` if the service keeps no receipts.
    let receipts: AppReceipts?
    let deployment: Deployment
    let store: any AppAttestStore
    public let commits: GroupCommit<AccountCommand>
    let challenges: ChallengeMint
    let failures: FailedChallenges
    let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - root: The root certificate for attestations. It is Apple's, except in development.
    ///   - receipts: Stores attestation receipts; `nil` if the service does not exchange receipts.
    ///   - nonceKey: The key for challenges. All replicas need the same key, because any replica must accept
    ///     all challenges.
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

    /// Returns the policy for a request that names an app but no bundle ID: the policy for the bundle ID in
    /// the proof's challenge, with the app's strictest mode.
    ///
    /// - Returns: `nil` if App Check judges none of the app's bundle IDs.
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

    /// Judges a request: verifies and consumes its proof, and counts the result.
    ///
    /// - Parameters:
    ///   - policy: The app's policy; `nil` if App Check does not judge the app.
    ///   - digest: The digest of the data that the proof must cover.
    /// - Returns: `nil` if App Check does not judge the app.
    /// - Throws: `AppCheckRefusal` in enforced mode. The commit throws it too, and also throws `StorageError`
    ///   and `OverloadedError`.
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

    /// Verifies a proof as far as is possible before the transaction. Waits only for the database.
    ///
    /// Performs cheap checks first, so a foreign or expired challenge costs no lookup.
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

    /// Counts the request and its result.
    ///
    /// - Parameter refusal: The transaction's refusal. It counts as a refusal of the proof only if it
    ///   concerns the proof.
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

    /// Counts the request and the result of the transaction that consumed its proof.
    ///
    /// - Throws: `AppCheckRefusal` in enforced mode; any other error of the transaction.
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

    /// Returns the error for a sign-in that the transaction refused. Counts a refused proof, but not a
    /// refused sign-in, because it does not concern the app.
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

/// A request whose proof was verified as far as is possible before the transaction.
struct JudgedApp: Sendable {
    /// The app's policy. Its mode is not `off`.
    let policy: AppCheckPolicy
    let appVersion: String?
    /// The proof that the transaction consumes; `nil` if there is no proof to consume.
    let proof: AppProof?
    let found: AppCheckProof
    var extensions: AuthenticatorExtensions?

    /// True if the request requires a valid proof.
    var demandsProof: Bool { policy.mode == .enforced }

    /// Returns the result for the proof.
    ///
    /// - Parameter refusal: The transaction's refusal. A refusal that does not concern the proof does not
    ///   count, and an earlier fault in the proof remains the cause.
    func found(refusedFor refusal: AccountRefusal.Code? = nil) -> AppCheckProof {
        guard found == .holds, let cause = refusal.flatMap({ AppCheckCause($0) }) else { return found }
        return .doesNotHold(cause)
    }

    func decision(refusedFor refusal: AccountRefusal.Code? = nil) -> AppCheckDecision? {
        policy.decision(on: found(refusedFor: refusal), appVersion: appVersion)
    }
}

/// The App Check result for an accepted request, as callers receive it.
public struct AppCheckResult: Sendable, Equatable {
    public let kind: AppCheckKind
    /// The reason that the proof is invalid; `nil` for any other result.
    public let cause: AppCheckCause?
    /// The iOS 27 facts in a valid assertion; `nil` for any other result. They do not affect the result.
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
