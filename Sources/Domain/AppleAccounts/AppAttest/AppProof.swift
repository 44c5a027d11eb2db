public import AppAttestation

/// A proof of App Attest that came with a request: what the transaction of the request does with it.
public struct AppProof: Sendable, Hashable {
    /// Consumed whatever the result of the request is.
    public let challenge: UsedNonce
    /// `nil` when a check before the transaction has failed: the challenge is consumed, and no counter rises.
    public let assertion: AssertedCounter?

    public init(challenge: UsedNonce, assertion: AssertedCounter?) {
        (self.challenge, self.assertion) = (challenge, assertion)
    }
}

/// The counter of an assertion whose other checks have passed.
public struct AssertedCounter: Sendable, Hashable {
    public let keyID: AttestedKeyID
    /// The app that the assertion is of.
    public let appID: AppID
    public let counter: UInt32
    public let facts: AttestedAppFacts

    public init(keyID: AttestedKeyID, appID: AppID, counter: UInt32, facts: AttestedAppFacts = .none) {
        (self.keyID, self.appID, self.counter, self.facts) = (keyID, appID, counter, facts)
    }
}
