public import AppAttestation
public import AppleAccounts
public import Commits
import Encodings
import JOSE

/// A new key's attestation, as a backend posts it.
public struct KeyRegistrationRequest: Sendable {
    /// The attestation object in base64 with padding.
    public var attestation: String
    /// The key ID that `generateKey` returned to the app.
    public var keyID: String
    /// The challenge text that the app hashed.
    public var challenge: String
    /// The app's bundle ID.
    public var clientID: String

    public init(attestation: String, keyID: String, challenge: String, clientID: String) {
        (self.attestation, self.keyID) = (attestation, keyID)
        (self.challenge, self.clientID) = (challenge, clientID)
    }
}

/// A registered key, with the iOS 27 facts from its attestation.
public struct KeyRegistration: Sendable {
    public let key: AttestedKeyRecord
    public let isNew: Bool
    public let extensions: AuthenticatorExtensions
}

/// The configuration has no App Attest entry for the client ID.
public struct AppAttestNotConfigured: Error, Sendable, Equatable {}

extension AppChecks {
    /// Makes a challenge. Does not wait, and stores nothing.
    ///
    /// - Parameter clientID: The app's bundle ID.
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `AppAttestNotConfigured`.
    public func mintChallenge(
        _ purpose: AppAttestChallenge.Purpose, for clientID: String, allowed: AppScope
    ) throws -> AppAttestChallenge {
        mintChallenge(purpose, by: try policy(named: clientID, allowed: allowed))
    }

    /// Makes a challenge for a policy's app. Does not wait, and stores nothing.
    public func mintChallenge(
        _ purpose: AppAttestChallenge.Purpose, by policy: AppCheckPolicy
    ) -> AppAttestChallenge {
        challenges.mint(
            purpose, for: policy.appID,
            expiresAt: now().advanced(byMilliseconds: AppAttestChallenge.lifetime))
    }

    /// Verifies an attestation, and returns the command that registers its key. If the attestation is
    /// invalid, the command consumes the challenge and then fails.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `AppAttestNotConfigured`. `AppCheckRefusal`, which the
    ///   commit throws too.
    public func registerKey(
        _ request: KeyRegistrationRequest, allowed: AppScope
    ) throws -> Step<KeyRegistration> {
        try registerKey(request, by: try policy(named: request.clientID, allowed: allowed))
    }

    /// Verifies an attestation for a policy's app. Ignores the `clientID` in the request.
    ///
    /// - Throws: `AppCheckRefusal`, which the commit throws too.
    public func registerKey(
        _ request: KeyRegistrationRequest, by policy: AppCheckPolicy
    ) throws -> Step<KeyRegistration> {
        let moment = now()
        let challenge: UsedNonce?
        do throws(ProofFault) {
            challenge = try challenges.challenge(
                request.challenge, .attestation, for: policy.appID, at: moment)
        } catch {
            // A client that did not receive the response may repeat its registration later.
            guard error.cause == .challengeExpired else { throw Self.refusal(error.cause) }
            challenge = nil
        }
        do throws(ProofFault) {
            let verified = try verify(request, policy, at: moment)
            let receipt = receipts?.seal(
                receiptOf: verified, ClientDataHash(hashing: Array(request.challenge.utf8)), at: moment)
            let key = AttestedKeyRecord(
                id: verified.keyID, appID: verified.appID, publicKey: verified.publicKey.point,
                environment: verified.environment, createdAt: moment,
                facts: AttestedAppFacts(verified.extensions), receipt: receipt,
                receiptRefreshAt: receipt.map { _ in moment })
            return commits.step(
                RegisterKeyCommand(key: key, challenge: challenge),
                then: { [receipts] result in
                    let registered = try Self.registered(result, hasExpired: challenge == nil)
                    if registered.isNew { receipts?.wake() }
                    // A known key keeps the environment of its first attestation.
                    guard registered.key.environment == policy.environment else {
                        throw Self.refusal(AppCheckCause(AppAttestationError(.environmentMismatch)))
                    }
                    return .now(
                        KeyRegistration(
                            key: registered.key, isNew: registered.isNew, extensions: verified.extensions))
                })
        } catch {
            guard let challenge else { throw Self.refusal(.challengeExpired) }
            let refusal = Self.refusal(error.cause)
            guard let consumed = failures.admit(challenge, at: moment) else { throw refusal }
            let command = UseProofCommand(
                proof: AppProof(challenge: consumed, assertion: nil), receivedAt: moment)
            return commits.step(command, then: { _ in throw refusal })
        }
    }

    /// Returns a stored key; `nil` if the key is unknown or the caller has no access to its app.
    public func attestedKey(
        _ id: AttestedKeyID, allowed: AppScope
    ) async throws -> AttestedKeyRecord? {
        guard let key = try await store.attestedKey(id) else { return nil }
        guard let clientID = ClientID(key.appID.bundleID), let app = deployment.app(for: clientID),
            allowed.allows(app)
        else { return nil }
        return key
    }

    private func verify(
        _ request: KeyRegistrationRequest, _ policy: AppCheckPolicy, at moment: Moment
    ) throws(ProofFault) -> VerifiedAttestation {
        guard let keyID = AttestedKeyID(base64: request.keyID),
            request.attestation.utf8.count <= (UnverifiedAttestation.longestObject + 2) / 3 * 4,
            let object = Base64.decode(request.attestation)
        else { throw ProofFault(.proofMalformed) }
        do throws(AppAttestationError) {
            return try AttestationVerifier(
                root: root, appID: policy.appID, platform: policy.platform, environment: policy.environment
            ).verify(
                UnverifiedAttestation(object), keyID: keyID,
                clientDataHash: ClientDataHash(hashing: Array(request.challenge.utf8)),
                at: moment.milliseconds / 1000)
        } catch {
            throw ProofFault(error)
        }
    }

    private func policy(named clientID: String, allowed: AppScope) throws -> AppCheckPolicy {
        _ = try deployment.app(named: clientID, in: allowed)
        guard let policy = policies.ofApp(clientID) else { throw AppAttestNotConfigured() }
        return policy
    }

    private static func refusal(_ cause: AppCheckCause) -> AppCheckRefusal {
        AppCheckRefusal(.attestationInvalid, cause: cause)
    }

    /// Maps the transaction's refusal of the challenge or the key. Returns any other error unchanged.
    private static func registered(
        _ result: Result<RegisteredKey, any Error>, hasExpired: Bool
    ) throws -> RegisteredKey {
        do {
            return try result.get()
        } catch let error as AccountRefusal {
            if hasExpired { throw refusal(.challengeExpired) }
            if let cause = AppCheckCause(error.code) { throw refusal(cause) }
            throw error
        }
    }
}
