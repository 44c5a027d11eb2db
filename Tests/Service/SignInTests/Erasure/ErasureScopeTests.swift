import AppleAccounts
import AppleIDClient
import AppleIdentity
import Commits
import StorageConformance
import TestSupport
import Testing
import TokenMint

@testable import SignIn

/// Changes of an account between the look-up by the caller of an erasure and the erasure itself.
@Suite struct ErasureScopeTests {
    private static let key = SubjectKey.sample("person")

    private func useCases(
        _ store: ReferenceStore, before events: [MeddlingStore.Event]
    ) throws -> SignInUseCases {
        let meddling = MeddlingStore(store, before: events)
        return SignInUseCases(
            deployment: try Deployment(apps: [Subject.app, Subject.other, Subject.foreign]),
            policy: VerificationPolicy(clientIDs: []),
            keys: try StubKeys(cached: TokenMint.shared.publicKeys()),
            store: meddling, commits: GroupCommit<AccountCommand>(store: meddling, feed: EventFeed()),
            feed: EventFeed(),
            tokenContext: AppleTokenContext(tokens: store), nonceKey: .sample(), nonceLifetime: .seconds(600),
            now: { 5_000_000 })
    }

    @Test func `refuses an erasure when the user signs in to an app that the caller may not see`()
        async throws
    {
        let store = ReferenceStore()
        let account = try await store.signIn(.sample(key: Self.key)).account
        let useCases = try useCases(
            store,
            before: [{ _ = try await $0.signIn(.sample(key: Self.key, clientID: "com.example.other")) }])
        await #expect(throws: CallerForbidden()) {
            try await useCases.erase(
                id: account.id.rawValue, allowed: .only(["com.example.app"]), waiting: .zero)
        }
        let found = try #require(try await store.account(account.id))
        #expect(found.credentials.map(\.clientID) == ["com.example.app", "com.example.other"])
    }

    @Test(arguments: 1...3)
    func `erases an account that gets another name meanwhile`(moves: Int) async throws {
        let store = ReferenceStore()
        let account = try await store.signIn(.sample(key: Self.key)).account
        let transfers = (1...moves).map { number -> MeddlingStore.Event in
            { store in
                let to = SubjectKey.sample(
                    team: TeamID(stringLiteral: "OTHERTEAM\(number)"), "moved-\(number)")
                let command = TransferCommand(
                    accountID: account.id, from: nil, to: to, clientID: "com.example.app", email: nil,
                    createdAt: 1,
                    receivedAt: 2000)
                _ = try await store.carryOut(.transfer(command))
            }
        }
        let record = try await useCases(store, before: transfers)
            .erase(id: account.id.rawValue, allowed: .only(["com.example.app"]), waiting: .zero)
        #expect(record.team.rawValue == "OTHERTEAM\(moves)")
        #expect(try await store.account(account.id) == nil)
    }

    @Test func `gives the record of an erasure that was faster`() async throws {
        let store = ReferenceStore()
        let account = try await store.signIn(.sample(key: Self.key)).account
        let useCases = try useCases(
            store, before: [{ _ = try await $0.carryOut(.erase(.sample(9, account: account))) }])
        let record = try await useCases.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        #expect(record.id == ErasureID(.sample(9)))
    }

    @Test func `tells a limited caller of an erasure only what its apps are concerned`() async throws {
        let store = ReferenceStore()
        try await store.hold(1, key: Self.key)
        let account = try await store.hold(2, key: Self.key, clientID: "com.example.other")
        let useCases = try useCases(store, before: [])
        let whole = try await useCases.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        #expect(whole.apps.count == 2)
        let other = AppScope.only(["com.example.other"])
        let again = try await useCases.erase(id: account.id.rawValue, allowed: other, waiting: .zero)
        #expect(again.id == whole.id)
        #expect(again.apps.map(\.clientID) == ["com.example.other"])
        #expect(again.tokens.map(\.id) == [.sample(2)])
        #expect(try await useCases.erasure(id: whole.id.rawValue, allowed: other) == again)
        let foreign = AppScope.only(["org.example.app"])
        #expect(try await useCases.erasure(id: whole.id.rawValue, allowed: foreign) == nil)
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await useCases.erase(id: account.id.rawValue, allowed: foreign, waiting: .zero)
        }
    }
}

@Suite struct ErasureActionTests {
    @Test func `believes a refused refresh and nothing else`() {
        #expect(ErasureAction(afterProof: .invalidGrant) == .finish(.provenRevoked, cause: nil))
        #expect(ErasureAction(afterProof: nil) == .retry(.revoke, cause: "still_valid"))
        for code in AppleCallError.Code.allCases where code != .noSigningKey {
            #expect(
                ErasureAction(afterProof: AppleCallError(code)) == .retry(.prove, cause: code.rawValue))
        }
        for error in AppleErrorCode.allCases where error != .invalidGrant {
            #expect(
                ErasureAction(afterProof: AppleCallError(.rejected, appleError: error))
                    == .retry(.prove, cause: error.rawValue))
        }
    }

    @Test func `asks for the proof after any answer about the token, and again after none`() {
        #expect(ErasureAction(afterRevocation: nil) == .proceed(.prove))
        for error in AppleErrorCode.allCases {
            let action = ErasureAction(afterRevocation: AppleCallError(.rejected, appleError: error))
            let isClient = error == .invalidClient || error == .unauthorizedClient
            #expect(action == (isClient ? .retry(.revoke, cause: error.rawValue) : .proceed(.prove)))
        }
        for code in AppleCallError.Code.allCases where code != .noSigningKey && code != .rejected {
            #expect(
                ErasureAction(afterRevocation: AppleCallError(code))
                    == .retry(.revoke, cause: code.rawValue))
        }
    }

    @Test func `ends at once without a key to sign with`() {
        let end = ErasureAction.finish(.notRevoked, cause: "no_signing_key")
        #expect(ErasureAction(afterProof: AppleCallError(.noSigningKey)) == end)
        #expect(ErasureAction(afterRevocation: AppleCallError(.noSigningKey)) == end)
    }

    @Test func `ends at the deadline in any case`() throws {
        var generator = SeededGenerator(seed: 1)
        var token = ErasureToken(
            id: UniqueID(at: 0, using: &generator), clientID: "com.example.app",
            primaryClientID: "com.example.app", kind: .refreshToken, step: .prove, nextAttemptAt: 0,
            sealed: SealedSecret([1]))
        let again = ErasureAction.retry(.revoke, cause: "still_valid")
        token.apply(again, at: 1000, lease: 31_000, delay: 5000, deadline: 10_000)
        #expect(token.step == .revoke)
        #expect(token.nextAttemptAt == 6000)
        #expect(token.cause == "still_valid")
        token.apply(.proceed(.prove), at: 6000, lease: 36_000, delay: 5000, deadline: 10_000)
        #expect(token.step == .prove)
        #expect(token.nextAttemptAt == 36_000)
        // The last attempt is made at the deadline.
        token.apply(again, at: 7000, lease: 37_000, delay: 5000, deadline: 10_000)
        #expect(token.nextAttemptAt == 10_000)
        token.apply(again, at: 10_000, lease: 40_000, delay: 5000, deadline: 10_000)
        #expect(token.step == .done(.notRevoked))
        #expect(token.cause == "still_valid")
        #expect(token.sealed == nil)
    }
}
