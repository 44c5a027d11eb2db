import AppAttestation
package import AppleAccounts
package import AppleIDClient
public import Certificates
public import Cryptography
import JOSE
package import Logging

/// Exchanges the receipts of App Attest for newer receipts, once a
/// day, and stores the risk metric. The metric is for display only.
///
/// A claim moves the receipt's next time ahead before Apple is called, so only one replica sends it. After 30
/// days Apple forgets an attestation: then the receipt is deleted, and the last metric stays.
package struct ReceiptRefresh: Worker {
    package static let traits = WorkerTraits(
        width: 4, longestLook: .seconds(60), failurePause: .seconds(5),
        unclaimed: "no receipts could be claimed", counter: "siwa_app_attest_receipts",
        help: "Exchanges of App Attest receipts at Apple by result.")
    /// Milliseconds of a claim: longer than an exchange with two signing keys can take.
    static let lease: Int64 = 120_000
    /// Milliseconds between two exchanges of a receipt, if Apple does not name a later time.
    static let interval: Int64 = 86_400_000
    /// Largest rate of exchanges per second. A million keys in a day need 11.6.
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

    /// - Parameter receipts: `nil` without a sealing key: then receipts are neither kept nor opened.
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

    /// Omits the key, which would identify a device in the log.
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

    /// A receipt that does not open is given up: the next attestation has a new receipt.
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

    /// A day ahead, or at Apple's time if it is later, spread over an hour.
    ///
    /// - Parameter notBefore: Milliseconds since 1970.
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

/// Checks receipts of App Attest, and keeps them for the risk metric.
public struct AppReceipts: Sendable {
    let root: TrustAnchor
    let sealer: AppReceiptSealer
    let signals = WorkerSignals()

    /// - Parameter root: The root of receipts: Apple's, except in development.
    public init(root: TrustAnchor, sealingKeys: SealingKeyRing) {
        self.root = root
        sealer = AppReceiptSealer(keys: sealingKeys)
    }

    /// Wakes the worker for a receipt that was just stored.
    func wake() { signals[ReceiptRefresh.self].wake() }

    /// Verifies the receipt of an attestation, and seals it. Returns `nil` for a receipt that is refused: the
    /// key is registered without it, because the receipt has no effect on the registration.
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

    /// Verifies a receipt that Apple has exchanged.
    func verify(
        _ bytes: [UInt8], of key: AttestedKeyRecord, at moment: Moment
    ) throws -> VerifiedReceipt {
        let verifier = ReceiptVerifier(root: root, appID: key.appID, environment: key.environment)
        return try verifier.verify(
            UnverifiedReceipt(bytes), of: ECPublicKey(point: key.publicKey), from: .exchange,
            at: moment.milliseconds)
    }
}

/// Seals receipts of App Attest for storage, and opens them.
struct AppReceiptSealer: Sendable {
    let keys: SealingKeyRing

    private static let purpose = SealingPurpose("app_attest_receipt")

    /// Returns `nil` for a receipt above the size bound. Apple's receipts have a quarter of the bound.
    func seal(_ receipt: [UInt8], of key: AttestedKeyID) -> SealedSecret? {
        SealedSecret(keys.seal(receipt, for: Self.purpose, associatedData: Self.associatedData(key)))
    }

    func open(_ sealed: SealedSecret, of key: AttestedKeyID) throws(SealError) -> [UInt8] {
        try keys.open(sealed.bytes, for: Self.purpose, associatedData: Self.associatedData(key))
    }

    /// Binds a value to its row, so that rows cannot be exchanged.
    private static func associatedData(_ key: AttestedKeyID) -> [UInt8] {
        Array("app_attest_receipt\n\(key.base64)".utf8)
    }
}
