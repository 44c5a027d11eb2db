import AppleAccounts
import StorageConformance
import StrictJSON
import Testing

@testable import SignIn

/// An API key for some apps that repeats changes of accounts that have other apps too.
@Suite struct RefusedChangePaceTests {
    private enum Change: CaseIterable { case disable, enable, signOut, erase }

    private static func change(_ change: Change, _ id: AccountID, in subject: Subject, of apps: AppScope)
        async
    {
        let useCases = subject.useCases
        do {
            switch change {
            case .disable:
                _ = try await useCases.disable(id: id.rawValue, reason: .abuse, until: nil, allowed: apps)
            case .enable: _ = try await useCases.enable(id: id.rawValue, allowed: apps)
            case .signOut: _ = try await useCases.signOut(id: id.rawValue, keeping: [], allowed: apps)
            case .erase: _ = try await useCases.erase(id: id.rawValue, allowed: apps)
            }
            Issue.record("was not refused")
        } catch {
            #expect(error is CallerForbidden)
        }
    }

    private static func account(_ subject: Subject) async throws -> AccountID {
        let id = try await subject.signIn().account.id
        try await subject.signIn(1, ["aud": .string("com.example.other")])
        return id
    }

    @Test func `twenty refused changes of a key within an hour have a row, and no more`() async throws {
        let subject = try Subject()
        let id = try await Self.account(subject)
        let apps = AppScope.only(["com.example.app"])
        func rows() async throws -> Int {
            try await subject.store.verifiedAudit().count { $0.facts.outcome == .refused }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    await AuditOrigin.$current.withValue(AuditOrigin(.apiKey("limited"))) {
                        await Self.change(Change.allCases[number % 4], id, in: subject, of: apps)
                    }
                }
            }
        }
        #expect(try await rows() == RefusedChangePace.most && RefusedChangePace.most == 20)
        // Another key has its own rows, and the hour ends.
        await AuditOrigin.$current.withValue(AuditOrigin(.apiKey("other"))) {
            await Self.change(.disable, id, in: subject, of: apps)
        }
        #expect(try await rows() == 21)
        subject.setClock(10 + 3600)
        await AuditOrigin.$current.withValue(AuditOrigin(.apiKey("limited"))) {
            await Self.change(.disable, id, in: subject, of: apps)
        }
        #expect(try await rows() == 22)
        #expect(try await subject.store.account(id)?.disabling == nil)
    }

    @Test func `permitted changes of a limited key use none of the rows up`() async throws {
        let pace = RefusedChangePace()
        for _ in 0..<100 {
            let isNoted = try await pace.limiting(.only(["com.example.app"]), at: 1000) {
                AuditOrigin.current.notesRefusals
            }
            #expect(isNoted)
        }
    }
}
