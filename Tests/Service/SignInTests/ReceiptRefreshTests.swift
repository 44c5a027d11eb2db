import AppAttestation
import AppleAccounts
import AppleIDClient
import AttestationMint
import Certificates
import Cryptography
import ServiceLifecycle
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import SignIn

@Suite(.timeLimit(.hung)) struct ReceiptRefreshTests {
    /// Responds to each exchange, and records it.
    private final class ScriptedReceipts: AppleReceiptService {
        struct Request: Hashable {
            let receipt: [UInt8]
            let team: String
            let isProduction: Bool
        }

        let responses = Mutex<[Result<ReceiptResponse, AppleCallError>]>([])
        let requests = Mutex<[Request]>([])

        func exchange(
            receipt: [UInt8], team: String, isProduction: Bool
        ) async throws(AppleCallError) -> ReceiptResponse {
            requests.withLock { $0.append(Request(receipt: receipt, team: team, isProduction: isProduction)) }
            let next = responses.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else { throw AppleCallError(.unreachable) }
            return try next.get()
        }
    }

    private static let day: Int64 = 86_400_000
    private let mint: AttestationMint
    private let device: MintedKey
    private let receipts: AppReceipts
    private let store = ReferenceStore()
    private let apple = ScriptedReceipts()
    private let moment = Moment(seconds: AttestationMint.sampleTime)

    init() throws {
        mint = try AttestationMint()
        device = try MintedKey()
        let key = try #require(SealingKey(name: "test", bytes: [UInt8](repeating: 7, count: 32)))
        receipts = AppReceipts(
            root: try #require(TrustAnchor(pem: mint.root.pem)),
            sealingKeys: try #require(SealingKeyRing([key])))
    }

    private func worker(_ receipts: AppReceipts?) -> ReceiptRefresh {
        ReceiptRefresh(
            receipts: receipts, store: store, apple: apple, now: { [moment] in moment }, logger: .silent)
    }

    /// Stores the device's key with this receipt, which is due.
    private func register(_ receipt: [UInt8]) async throws -> AttestedKeyRecord {
        let id = try #require(AttestedKeyID(base64: keyID))
        let appID = try #require(AppID(teamID: AttestationMint.teamID, bundleID: AttestationMint.bundleID))
        let key = AttestedKeyRecord(
            id: id, appID: appID, publicKey: device.point, environment: .production, createdAt: moment,
            receipt: receipts.sealer.seal(receipt, of: id), receiptRefreshAt: moment)
        try await store.register(.sample(key, challenge: 1))
        return key
    }

    private var keyID: String { AttestedKeyID(SHA256Digest.hash(device.point)).base64 }

    /// Claims and carries out what is due, and returns the results.
    private func run(_ worker: ReceiptRefresh) async throws -> [ReceiptRefresh.WorkResult] {
        var results: [ReceiptRefresh.WorkResult] = []
        for key in try await worker.claim(limit: 8, at: moment) {
            switch await worker.perform(key) {
            case .ended(let result): results.append(result)
            case .ends(let result, let end):
                results.append(result)
                try await end.write()
            case .cutOff, .counted: Issue.record("no result")
            }
        }
        return results
    }

    private func answer(_ response: ReceiptResponse) {
        apple.responses.withLock { $0.append(.success(response)) }
    }

    @Test func `exchanges a receipt, stores the metric, and waits a day`() async throws {
        let first = try mint.receipt(ReceiptParts(key: device))
        let second = try mint.receipt(.refreshed(device, metric: "4"))
        let key = try await register(first)
        answer(.refreshed(second))
        #expect(try await run(worker(receipts)) == [.refreshed])
        let sent = apple.requests.withLock { $0 }
        #expect(sent == [.init(receipt: first, team: AttestationMint.teamID, isProduction: true)])
        let stored = try #require(try await store.attestedKey(key.id))
        #expect(stored.riskMetric == 4)
        let kept = try #require(stored.receipt)
        #expect(try receipts.sealer.open(kept, of: key.id) == second)
        let due = try #require(stored.receiptRefreshAt)
        #expect(due >= moment.advanced(byMilliseconds: Self.day))
        #expect(due < moment.advanced(byMilliseconds: Self.day + 3_600_000))
        #expect(try await run(worker(receipts)).isEmpty)
    }

    @Test func `a receipt that Apple does not refresh yet stays`() async throws {
        let key = try await register(mint.receipt(ReceiptParts(key: device)))
        answer(.tooEarly)
        #expect(try await run(worker(receipts)) == [.tooEarly])
        let stored = try #require(try await store.attestedKey(key.id))
        #expect(stored.receipt == key.receipt && stored.riskMetric == nil)
        #expect(try #require(stored.receiptRefreshAt) >= moment.advanced(byMilliseconds: Self.day))
    }

    @Test(arguments: [(ReceiptResponse.forgotten, ReceiptRefresh.WorkResult.forgotten), (.refused, .refused)])
    func `a receipt without data at Apple is deleted`(
        response: ReceiptResponse, result: ReceiptRefresh.WorkResult
    ) async throws {
        let key = try await register(mint.receipt(ReceiptParts(key: device)))
        answer(response)
        #expect(try await run(worker(receipts)) == [result])
        let stored = try #require(try await store.attestedKey(key.id))
        #expect(stored.receipt == nil && stored.receiptRefreshAt == nil)
    }

    @Test func `a response that is not a receipt of this key is not stored`() async throws {
        let key = try await register(mint.receipt(ReceiptParts(key: device)))
        let foreign = try mint.receipt(.refreshed(MintedKey()))
        answer(.refreshed(foreign))
        #expect(try await run(worker(receipts)) == [.invalid])
        let stored = try #require(try await store.attestedKey(key.id))
        #expect(stored.receipt == key.receipt && stored.riskMetric == nil)
    }

    @Test(arguments: [
        (AppleCallError(.throttled), ReceiptRefresh.WorkResult.throttled),
        (AppleCallError(.serverFailed), .notAsked), (AppleCallError(.timedOut), .notAsked),
        (AppleCallError(.rejected, appleError: .invalidClient), .refusedUs),
        (AppleCallError(.noSigningKey), .refusedUs),
    ])
    func `a failed exchange is repeated later`(
        error: AppleCallError, result: ReceiptRefresh.WorkResult
    ) async throws {
        let key = try await register(mint.receipt(ReceiptParts(key: device)))
        apple.responses.withLock { $0.append(.failure(error)) }
        #expect(try await run(worker(receipts)) == [result])
        let stored = try #require(try await store.attestedKey(key.id))
        #expect(stored.receipt == key.receipt)
        let due = try #require(stored.receiptRefreshAt)
        #expect(due > moment && due <= moment.advanced(byMilliseconds: 2 * 3_600_000))
    }

    @Test func `a receipt that does not open is deleted, and Apple is not asked`() async throws {
        let key = try await register(mint.receipt(ReceiptParts(key: device)))
        let other = try #require(SealingKey(name: "other", bytes: [UInt8](repeating: 8, count: 32)))
        let strangers = AppReceipts(root: receipts.root, sealingKeys: try #require(SealingKeyRing([other])))
        #expect(try await run(worker(strangers)) == [.unreadable])
        #expect(try await store.attestedKey(key.id)?.receipt == nil)
        #expect(apple.requests.withLock { $0.isEmpty })
    }

    @Test func `a sealed receipt opens for its key only`() throws {
        let id = AttestedKeyID(SHA256Digest.hash("a key"))
        let sealed = try #require(receipts.sealer.seal([1, 2, 3], of: id))
        #expect(try receipts.sealer.open(sealed, of: id) == [1, 2, 3])
        #expect(throws: SealError(.authenticationFailed)) {
            try receipts.sealer.open(sealed, of: AttestedKeyID(SHA256Digest.hash("another key")))
        }
        #expect(receipts.sealer.seal([UInt8](repeating: 0, count: SealedSecret.longest), of: id) == nil)
    }
}

@Suite(.timeLimit(.hung)) struct AppCheckRecorderTests {
    private let store = ReferenceStore()
    private let clock = ManualClock()
    private let target = AppCheckTarget.app(bundleID: "com.example.app")
    private let counts: AppCheckCounts

    init() throws {
        let appID = try #require(AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.app"))
        counts = AppCheckCounts(
            of: AppCheckPolicies([
                AppCheckPolicy(
                    target: .app(bundleID: "com.example.app"), appID: appID, platform: .iOS, mode: .monitored,
                    environment: .production, firstAttestingVersion: nil)
            ]))
    }

    private func recorder(_ store: any AppCheckHourStore) -> AppCheckRecorder {
        AppCheckRecorder(
            counts: counts, store: store, clock: clock, now: { Moment(milliseconds: 0) }, logger: .silent)
    }

    private func stored() async throws -> [AppCheckTally] {
        try await store.appCheckHours(of: [target], from: 0).map(\.tally)
    }

    @Test func `stores the counts every 15 seconds, and what is left when the service stops`() async throws {
        let group = ServiceGroup(services: [recorder(store)], logger: .silent)
        let running = Task { try await group.run() }
        await clock.sleeper()
        counts.add(.verified, for: target, at: 0)
        #expect(try await stored().isEmpty)
        clock.advance(by: .seconds(15))
        await clock.sleeper()
        #expect(try await stored() == [AppCheckTally(verified: 1)])
        counts.add(.invalid, for: target, at: 0)
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(try await stored() == [AppCheckTally(verified: 1, invalid: 1)])
    }

    @Test func `keeps the counts while the database is away`() async throws {
        counts.add(.outdatedApp, for: target, at: 0)
        await recorder(AbsentHourStore()).record()
        counts.add(.outdatedApp, for: target, at: 10)
        await recorder(store).record()
        #expect(try await stored() == [AppCheckTally(outdatedApp: 2)])
    }
}

/// Refuses everything.
private struct AbsentHourStore: AppCheckHourStore {
    private let error = StorageError(.unavailable, detail: "away")

    func addAppCheckHours(_ hours: [AppCheckHour]) async throws { throw error }

    func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour] {
        throw error
    }

    func purgeAppCheckHours(before end: Int64) async throws -> Int { throw error }
}
