import AppAttestation
package import AppleAccounts
package import AppleIDClient
public import Certificates
public import Cryptography
import JOSE
package import Logging

/// Exchanges App Attest receipts for newer receipts once a day, and stores the risk metric. The metric is
/// only displayed.
///
/// Before the call to Apple, a claim postpones the receipt's next exchange, so that only one replica sends
/// the receipt. Apple forgets an attestation after 30 days. The worker then deletes the receipt but keeps the
/// last metric.
package struct ReceiptRefresh: Worker {
    package static let traits = WorkerTraits(
        width: 4, longestLook: .seconds(60), failurePause: .seconds(5),
        unclaimed: "no receipts could be claimed", counter: "siwa_app_attest_receipts",
        help: "Exchanges of App Attest receipts at Apple by result.")
    /// Claim duration in milliseconds. It is longer than an exchange with two signing keys can take.
    static let lease: Int64 = 120_000
    /// Minimum time in milliseconds between two exchanges of a receipt. Apple can request a later time.
    static let interval: Int64 = 86_400_000
    /// Maximum exchange rate per second. A million keys per day need 11.6 exchanges per second.
    static let perSecond = 25.0
    static let paceLimits = ApplePace.Limits(
        backoff: Backoff(first: .seconds(30), longest: .seconds(3600)), throttlesInARow: 1,
        refusalsInARow: 1, clientRest: 3_600_000)

    package enum WorkResult: String, CountedResult {
        case refreshed, forgotten, refused, throttled, invalid
        case tooEarly = "too_early"
        case notAsked = "not_asked"
        case refusedUs = "client_rejected"
        case unreadable = "sealed_unreadable"
    }

    package let context: WorkerContext<WorkResult>
    private let receipts: AppReceipts?
    private let store: any AppReceiptStore
    private let apple: any AppleReceiptService
    private let pace: SharedPace

    /// - Parameter receipts: Opens and stores receipts; `nil` if no sealing key is configured, in which case
    ///   the service stores no receipts.
    package init(
        receipts: AppReceipts?, store: any AppReceiptStore, apple: any AppleReceiptService,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Moment,
        logger: Logger
    ) {
        context = WorkerContext(
            for: Self.self, signals: receipts?.signals ?? WorkerSignals(), clock: clock, now: now,
            logger: logger)
        (self.receipts, self.store, self.apple) = (receipts, store, apple)
        pace = SharedPace(ApplePace(Self.paceLimits, perSecond: Self.perSecond, at: now()))
    }

    package var claimPace: SharedPace? { pace }

    package func claim(limit: Int, at moment: Moment) async throws -> [AttestedKeyRecord] {
        try await store.claimReceipts(
            limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease))
    }

    package func nextDue() async throws -> Moment? { try await store.nextReceiptDue() }

    package func clientID(of key: AttestedKeyRecord) -> String { key.appID.bundleID }

    /// Returns the metadata for log lines. Omits the key, because it would identify a device.
    package func logMetadata(of key: AttestedKeyRecord) -> Logger.Metadata {
        ["client_id": "\(key.appID.bundleID)", "environment": "\(key.environment.rawValue)"]
    }

    package func perform(_ key: AttestedKeyRecord) async -> WorkOutcome<WorkResult> {
        guard let clientID = ClientID(key.appID.bundleID), let receipt = open(key) else {
            return drop(key, as: .unreadable)
        }
        if let until = pace.update({ $0.rest(of: clientID, at: now()) }) {
            return postpone(key, until: until, as: .refusedUs)
        }
        do throws(AppleCallError) {
            let response = try await apple.exchange(
                receipt: receipt, team: key.appID.teamID, isProduction: key.environment == .production)
            pace.update { $0.reached(clientID) }
            switch response {
            case .refreshed(let bytes): return keep(bytes, of: key)
            case .tooEarly: return postpone(key, until: nextTime(nil), as: .tooEarly)
            case .forgotten: return drop(key, as: .forgotten)
            case .refused: return drop(key, as: .refused)
            }
        } catch {
            return failed(error, key, clientID)
        }
    }

    /// Opens a receipt. If the receipt does not open, the worker discards it, because the next attestation
    /// contains a new receipt.
    private func open(_ key: AttestedKeyRecord) -> [UInt8]? {
        guard let sealed = key.receipt, let receipts else { return nil }
        do {
            return try receipts.sealer.open(sealed, of: key.id)
        } catch {
            tell("a sealed receipt does not open", of: key, error, level: .warning)
            return nil
        }
    }

    private func keep(_ bytes: [UInt8], of key: AttestedKeyRecord) -> WorkOutcome<WorkResult> {
        let verified: VerifiedReceipt
        do {
            guard let receipts else { return drop(key, as: .unreadable) }
            verified = try receipts.verify(bytes, of: key, at: now())
        } catch {
            tell("a refreshed receipt does not verify", of: key, error, level: .error)
            return postpone(key, until: nextTime(nil), as: .invalid)
        }
        guard let sealed = receipts?.sealer.seal(verified.bytes, of: key.id),
            let metric = verified.riskMetric
        else { return postpone(key, until: nextTime(nil), as: .invalid) }
        let refreshed = RefreshedReceipt(
            sealed: sealed, riskMetric: Int64(metric), refreshAt: nextTime(verified.notBefore))
        return .ends(
            .refreshed,
            with: ClaimEnd(unstored: "a receipt was not stored") { [store] in
                try await store.replaceReceipt(of: key, by: refreshed)
            })
    }

    /// Returns the time of the next exchange: a day ahead, or the later time that Apple requests, spread over
    /// an hour.
    ///
    /// - Parameter notBefore: The time that Apple requests, in milliseconds since 1970.
    private func nextTime(_ notBefore: Int64?) -> Moment {
        let day = now().advanced(byMilliseconds: Self.interval)
        return max(day, Moment(milliseconds: notBefore ?? 0))
            .advanced(byMilliseconds: Int64.random(in: 0..<3_600_000))
    }

    private func failed(
        _ error: AppleCallError, _ key: AttestedKeyRecord, _ clientID: ClientID
    ) -> WorkOutcome<WorkResult> {
        let moment = now()
        var generator = SystemRandomNumberGenerator()
        tell(
            "a receipt was not exchanged", of: key, error,
            level: error.isOfConfiguration ? .error : .notice)
        switch error.code {
        case .throttled:
            pace.update { $0.throttled(at: moment, retryAfter: error.retryAfter, using: &generator) }
            return postpone(key, until: moment.advanced(byMilliseconds: 3_600_000), as: .throttled)
        case .rejected, .noSigningKey, .signingFailed:
            let until = pace.update { $0.refused(clientID, at: moment) }
            return postpone(key, until: until, as: .refusedUs)
        case .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable, .serverFailed:
            let until = pace.update { $0.missed(at: moment, using: &generator) }
            return postpone(key, until: until, as: .notAsked)
        }
    }

    private func postpone(
        _ key: AttestedKeyRecord, until moment: Moment, as result: WorkResult
    ) -> WorkOutcome<WorkResult> {
        .ends(
            result,
            with: ClaimEnd(unstored: "a receipt was not stored") { [store] in
                try await store.postponeReceipt(of: key, until: moment)
            })
    }

    private func drop(_ key: AttestedKeyRecord, as result: WorkResult) -> WorkOutcome<WorkResult> {
        .ends(
            result,
            with: ClaimEnd(unstored: "a receipt was not stored") { [store] in
                try await store.dropReceipt(of: key)
            })
    }
}

/// Verifies App Attest receipts, and stores them for the risk metric.
public struct AppReceipts: Sendable {
    let root: TrustAnchor
    let sealer: AppReceiptSealer
    let signals = WorkerSignals()

    /// - Parameter root: The root certificate for receipts. It is Apple's, except in development.
    public init(root: TrustAnchor, sealingKeys: SealingKeyRing) {
        self.root = root
        sealer = AppReceiptSealer(keys: sealingKeys)
    }

    /// Wakes the worker because a receipt was just stored.
    func wake() { signals[ReceiptRefresh.self].wake() }

    /// Verifies an attestation's receipt, and seals it. Returns `nil` for a refused receipt: the key is then
    /// registered without a receipt, because the receipt does not affect the registration.
    func seal(
        receiptOf attestation: VerifiedAttestation, _ clientDataHash: ClientDataHash, at moment: Moment
    ) -> SealedSecret? {
        let verifier = ReceiptVerifier(
            root: root, appID: attestation.appID, environment: attestation.environment)
        guard let receipt = try? UnverifiedReceipt(attestation.receipt),
            let verified = try? verifier.verify(
                receipt, of: attestation.publicKey, from: .attestation(clientDataHash),
                at: moment.milliseconds)
        else { return nil }
        return sealer.seal(verified.bytes, of: attestation.keyID)
    }

    /// Verifies a receipt that Apple returned in an exchange.
    func verify(
        _ bytes: [UInt8], of key: AttestedKeyRecord, at moment: Moment
    ) throws -> VerifiedReceipt {
        let verifier = ReceiptVerifier(root: root, appID: key.appID, environment: key.environment)
        return try verifier.verify(
            UnverifiedReceipt(bytes), of: ECPublicKey(point: key.publicKey), from: .exchange,
            at: moment.milliseconds)
    }
}

/// Seals and opens stored App Attest receipts.
struct AppReceiptSealer: Sendable {
    let keys: SealingKeyRing

    private static let purpose = SealingPurpose("app_attest_receipt")

    /// Seals a receipt. Returns `nil` for a receipt above the size limit, which is four times the size of
    /// Apple's receipts.
    func seal(_ receipt: [UInt8], of key: AttestedKeyID) -> SealedSecret? {
        SealedSecret(keys.seal(receipt, for: Self.purpose, associatedData: Self.associatedData(key)))
    }

    func open(_ sealed: SealedSecret, of key: AttestedKeyID) throws(SealError) -> [UInt8] {
        try keys.open(sealed.bytes, for: Self.purpose, associatedData: Self.associatedData(key))
    }

    /// Returns the associated data. It binds a value to its row, so that an attacker cannot swap rows.
    private static func associatedData(_ key: AttestedKeyID) -> [UInt8] {
        Array("app_attest_receipt\n\(key.base64)".utf8)
    }
}
