import AppAttestation
import AppleAccounts
import ServiceLifecycle
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import SignIn

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
