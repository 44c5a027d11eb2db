public import AppAttestation
import Encodings

/// An App Attest key, with the facts stored from its attestation.
///
/// A key belongs to the app that attested it, never to a user: an app attests before a user signs in, and all
/// users of a device share its key. So no value here identifies a user, and erasures delete no keys.
public struct AttestedKeyRecord: Sendable, Hashable {
    /// Retention time of an unused key, in milliseconds. Its app then has to attest a new key.
    public static let keptUnused: Int64 = 400 * 86_400_000
    /// Precision of the last-use time, in milliseconds. The time is
    /// indexed, so it is written at most once within this duration.
    public static let usePrecision: Int64 = 86_400_000

    public let id: AttestedKeyID
    public let appID: AppID
    /// The uncompressed P-256 point (X9.62): 65 bytes.
    public let publicKey: [UInt8]
    public let environment: AttestationEnvironment
    /// Counter of the last assertion; 0 after the attestation. It never decreases.
    public internal(set) var counter: UInt32
    public let createdAt: Moment
    /// Last-use time, with the precision `usePrecision`.
    public internal(set) var usedAt: Moment
    /// Facts from the latest proof made with the key: its attestation, or an assertion.
    public internal(set) var facts: AttestedAppFacts
    /// Apple's receipt, sealed. `nil` if no receipt is stored.
    public let receipt: SealedSecret?
    /// The earliest time for exchanging the receipt for a new receipt; `nil` if it will not be exchanged.
    public let receiptRefreshAt: Moment?
    /// Apple's count of the keys that this app attested on the
    /// device in the last 30 days. No decision depends on it.
    public let riskMetric: Int64?

    public init(
        id: AttestedKeyID, appID: AppID, publicKey: [UInt8], environment: AttestationEnvironment,
        counter: UInt32 = 0, createdAt: Moment, usedAt: Moment? = nil, facts: AttestedAppFacts = .none,
        receipt: SealedSecret? = nil, receiptRefreshAt: Moment? = nil, riskMetric: Int64? = nil
    ) {
        self.id = id
        self.appID = appID
        self.publicKey = publicKey
        self.environment = environment
        self.counter = counter
        self.createdAt = createdAt
        self.usedAt = usedAt ?? createdAt
        self.facts = facts
        self.receipt = receipt
        self.receiptRefreshAt = receiptRefreshAt
        self.riskMetric = riskMetric
    }

    /// Returns the same key with another receipt.
    public func with(receipt: SealedSecret?, refreshAt: Moment?, riskMetric: Int64?) -> AttestedKeyRecord {
        AttestedKeyRecord(
            id: id, appID: appID, publicKey: publicKey, environment: environment, counter: counter,
            createdAt: createdAt, usedAt: usedAt, facts: facts, receipt: receipt, receiptRefreshAt: refreshAt,
            riskMetric: riskMetric)
    }
}

/// Facts that iOS 27 and macOS 27 report about the app that uses a key, in a form that every store accepts.
/// No decision depends on them.
public struct AttestedAppFacts: Sendable, Hashable {
    /// Maximum size in bytes. The longest `CFBundleVersion` that Apple documents has 18 characters.
    public static let longestBundleVersion = 64

    /// The validation category. `ValidationCategory` does not list every value.
    public let validationCategory: UInt32?
    public let bundleVersion: String?

    /// No facts, because the app runs on an older system.
    public static let none = AttestedAppFacts()

    /// Creates the facts. The version is untrusted text, so a version that is too long or contains a control
    /// character counts as absent.
    public init(validationCategory: UInt32? = nil, bundleVersion: String? = nil) {
        self.validationCategory = validationCategory
        self.bundleVersion = bundleVersion.flatMap { text in
            (1...Self.longestBundleVersion).contains(text.utf8.count) && !text.hasControlCharacters
                ? text : nil
        }
    }

    public init(_ extensions: AuthenticatorExtensions) {
        self.init(
            validationCategory: extensions.validationCategory, bundleVersion: extensions.bundleVersion)
    }
}

/// An App Attest proof that came with a request: the challenge to consume, and the counter to raise.
public struct AppProof: Sendable, Hashable {
    /// The challenge. It is consumed even if the request fails.
    public let challenge: UsedNonce
    /// The counter; `nil` if a check failed before the transaction. The challenge is then consumed, but no
    /// counter rises.
    public let assertion: AssertedCounter?

    public init(challenge: UsedNonce, assertion: AssertedCounter?) {
        (self.challenge, self.assertion) = (challenge, assertion)
    }
}

/// The counter from an assertion that has passed all other checks.
public struct AssertedCounter: Sendable, Hashable {
    public let keyID: AttestedKeyID
    /// The app that made the assertion.
    public let appID: AppID
    public let counter: UInt32
    public let facts: AttestedAppFacts

    public init(keyID: AttestedKeyID, appID: AppID, counter: UInt32, facts: AttestedAppFacts = .none) {
        (self.keyID, self.appID, self.counter, self.facts) = (keyID, appID, counter, facts)
    }
}
