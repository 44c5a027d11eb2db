import AppleAccounts
import AppleIDClient
import AppleIdentity
import Commits
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import SignIn

@Suite struct ErasureTests {
    /// An account with a held token.
    private func held(_ storage: World.Storage = .memory) async throws -> (World, ServiceRun, String) {
        let (world, process, id) = try await World.holding(storage)
        world.pass(.seconds(1))
        return (world, process, id.rawValue)
    }

    /// Erases the account, and runs the worker until nothing is due for a while.
    private func erase(
        _ id: String, in world: World, _ process: ServiceRun, rounds: Int = 1
    ) async throws -> ErasureRecord {
        let record = try await process.useCases.erase(id: id, allowed: .all, waiting: .zero)
        for _ in 0..<rounds {
            await process.eraseDue()
            world.pass(.seconds(3601))
        }
        return try #require(try await process.useCases.erasure(id: record.id.rawValue, allowed: .all))
    }

    @Test(arguments: World.Storage.allCases)
    func `revokes what was held, proves it, and forgets the user`(storage: World.Storage) async throws {
        let (world, process, id) = try await held(storage)
        let record = try await erase(id, in: world, process)
        #expect(record.finishedAt != nil)
        #expect(record.apps.map(\.clientID) == ["com.example.app"])
        #expect(record.apps.map(\.hadToken) == [true])
        #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
        #expect(world.apple.questions.map(\.call) == [.exchange, .revoke, .validate])
        #expect(world.apple.good.isEmpty)
        #expect(try await world.store.sealedCount() == 0)
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await process.useCases.account(id: id, allowed: .all)
        }
        #expect(try await world.credential().reason == .erased)
        #expect(try await world.store.allEvents().last?.kind == .accountErased)
        #expect(try await world.store.allEvents().allSatisfy { $0.subject == nil })
    }

    @Test(arguments: World.Storage.allCases)
    func `lets no old token bring the account back, and makes a new one for a new sign-in`(
        storage: World.Storage
    ) async throws {
        let (world, process) = try await World.running(storage)
        let old = try world.token(nil)
        let id = try await process.signIn().account.id.rawValue
        await process.exchangeDue()
        world.pass(.seconds(1))
        _ = try await erase(id, in: world, process)
        await #expect(throws: AccountRefusal(.credentialRevoked)) {
            try await process.useCases.commitSignIn(
                SignInRequest(token: IdentityTokenRequest(identityToken: old)), allowed: .all)
        }
        let again = try await process.signIn(code: nil)
        #expect(again.isNewAccount)
        #expect(again.account.id.rawValue != id)
    }

    @Test func `answers the same when it is asked again`() async throws {
        let (world, process, id) = try await held()
        let first = try await process.useCases.erase(id: id, allowed: .all, waiting: .zero)
        #expect(first.finishedAt == nil)
        let second = try await process.useCases.erase(id: id, allowed: .all, waiting: .zero)
        #expect(second.id == first.id)
        await process.eraseDue()
        let third = try await process.useCases.erase(id: id, allowed: .all)
        #expect(third.finishedAt != nil)
        #expect(world.apple.questions(.revoke).count == 1)
    }

    @Test func `waits for the end, and for no longer than it was told`() async throws {
        let (_, process, id) = try await held()
        // No worker runs.
        let record = try await process.useCases.erase(id: id, allowed: .all)
        #expect(record.finishedAt == nil)
        #expect(process.clock.slept == .seconds(8))
        async let waiting = process.useCases.erase(id: id, allowed: .all, waiting: .seconds(1_000_000))
        await process.eraseDue()
        #expect(try await waiting.finishedAt != nil)
    }

    @Test func `is done at once where nothing was held, and says why the user has to do it`() async throws {
        let world = try await World()
        let process = try world.process(keys: [])
        let outcome = try await process.signIn()
        let record = try await process.useCases.erase(id: outcome.account.id.rawValue, allowed: .all)
        #expect(record.finishedAt != nil)
        #expect(record.tokens.isEmpty)
        #expect(record.apps.map(\.refreshTokenCause) == [.noSealingKey])
        #expect(process.clock.slept == .zero)
    }

    @Test func `revokes again while the token still answers`() async throws {
        let (world, process, id) = try await held()
        world.apple.setRevokes(false)
        var record = try await erase(id, in: world, process, rounds: 3)
        #expect(record.finishedAt == nil)
        #expect(record.tokens.map(\.cause) == ["still_valid"])
        #expect(world.apple.questions(.revoke).count == 3)
        world.apple.setRevokes(true)
        record = try await erase(id, in: world, process)
        #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
    }

    @Test(
        arguments: [
            .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable, .serverFailed,
            .throttled,
        ] as [AppleCallError.Code])
    func `comes to its end over every failure, whether it happened or not`(
        code: AppleCallError.Code
    ) async throws {
        for call in [ScriptedApple.Call.revoke, .validate] {
            for fault in [ScriptedApple.Fault.failed(AppleCallError(code)), .happened(AppleCallError(code))] {
                let (world, process, id) = try await held()
                world.apple.script(call, fault, fault)
                var record = try await erase(id, in: world, process, rounds: 2)
                // A refusal is the proof, also of a call that was about to fail.
                if record.finishedAt == nil {
                    #expect(record.tokens.map(\.cause) == [code.rawValue])
                    record = try await erase(id, in: world, process)
                }
                #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
                #expect(world.apple.good.isEmpty)
            }
        }
    }

    @Test func `ends after seven days of an Apple that is out of reach`() async throws {
        let (world, process, id) = try await held()
        for _ in 0..<1000 { world.apple.script(.revoke, .failed(AppleCallError(.unreachable))) }
        let begun = world.now
        var record = try await erase(id, in: world, process)
        while record.finishedAt == nil, world.now < begun.advanced(byMilliseconds: 8 * 86_400_000) {
            let due = try #require(try await world.store.nextDue().erasure)
            world.setNow(max(due, world.now))
            let waiting = try await world.store.backlog(at: world.now).erasures
            #expect(waiting == AppleTokensBacklog.Queue(count: 1, since: begun))
            await process.eraseDue()
            record = try #require(try await world.store.erasure(record.id))
        }
        #expect(try await world.store.backlog(at: world.now) == AppleTokensBacklog())
        #expect(record.finishedAt == begun.advanced(byMilliseconds: 7 * 86_400_000))
        #expect(record.tokens.map(\.step) == [.done(.notRevoked)])
        #expect(record.tokens.map(\.cause) == ["unreachable"])
        #expect((150...190).contains(world.apple.questions(.revoke).count))
        #expect(try await world.store.sealedCount() == 0)
    }

    @Test func `gives up at once without a key, and says so`() async throws {
        let (world, _, id) = try await held()
        let unopened = try await erase(id, in: world, world.process(keys: []))
        #expect(unopened.tokens.map(\.step) == [.done(.notRevoked)])
        #expect(unopened.tokens.map(\.cause) == ["no_sealing_key"])
        let (other, process, otherID) = try await held()
        other.apple.script(.revoke, .failed(AppleCallError(.noSigningKey)))
        let unsigned = try await erase(otherID, in: other, process)
        #expect(unsigned.tokens.map(\.cause) == ["no_signing_key"])
    }

    @Test func `waits for a key that can come back`() async throws {
        let (world, _, id) = try await held()
        var record = try await erase(id, in: world, world.process(keys: ["second"]))
        #expect(record.finishedAt == nil)
        #expect(record.tokens.map(\.cause) == ["sealed_unreadable"])
        record = try await erase(id, in: world, world.process(keys: ["second", "first"]))
        #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
    }

    @Test func `exchanges a code that was still waiting, only to revoke what it brings`() async throws {
        let (world, process) = try await World.running()
        let outcome = try await process.signIn()
        world.pass(.seconds(1))
        let record = try await erase(outcome.account.id.rawValue, in: world, process)
        #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
        #expect(world.apple.questions.map(\.call) == [.exchange, .revoke, .validate])
        #expect(world.apple.granted.count == 1)
        #expect(world.apple.good.isEmpty)
    }

    @Test func `takes over the token of an exchange that was under way`() async throws {
        let (world, process) = try await World.running()
        let outcome = try await process.signIn()
        let codes = await process.exchange.claim(16).work
        world.pass(.seconds(1))
        let record = try await process.useCases.erase(
            id: outcome.account.id.rawValue, allowed: .all, waiting: .zero)
        // The code is claimed, so no worker sends it a second time.
        await process.eraseDue()
        #expect(world.apple.questions.isEmpty)
        for code in codes { await process.exchange.perform(code) }
        await process.eraseDue()
        let done = try #require(try await world.store.erasure(record.id))
        #expect(done.tokens.map(\.step) == [.done(.provenRevoked)])
        #expect(world.apple.good.isEmpty)
    }

    @Test(
        arguments: [
            (.failed(.invalidGrant), "code_rejected"), (.failed(.invalidClient), "client_rejected"),
            (.happened(AppleCallError(.timedOut)), "exchange_uncertain"),
        ] as [(ScriptedApple.Fault, String)])
    func `says why a code could not be made a token`(fault: ScriptedApple.Fault, cause: String) async throws {
        let (world, process) = try await World.running()
        world.apple.script(.exchange, fault)
        let outcome = try await process.signIn()
        world.pass(.seconds(1))
        let record = try await erase(outcome.account.id.rawValue, in: world, process)
        #expect(record.tokens.map(\.step) == [.done(.notRevoked)])
        #expect(record.tokens.map(\.cause) == [cause])
    }

    @Test func `is for callers who may see all apps of the account`() async throws {
        let (world, process, id) = try await held()
        try await process.signIn(code: nil, ["aud": .string("com.example.other")])
        world.pass(.seconds(1))
        let useCases = process.useCases
        await #expect(throws: CallerForbidden()) {
            try await useCases.erase(id: id, allowed: .only(["com.example.app"]), waiting: .zero)
        }
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await useCases.erase(id: id, allowed: .only(["org.example.app"]), waiting: .zero)
        }
        #expect(try await useCases.account(id: id, allowed: .all).id.rawValue == id)
        let both = AppScope.only(["com.example.app", "com.example.other"])
        let record = try await useCases.erase(id: id, allowed: both, waiting: .zero)
        #expect(try await useCases.erasure(id: record.id.rawValue, allowed: both) == record)
        #expect(record.apps.map(\.clientID) == ["com.example.app", "com.example.other"])
        let foreign = AppScope.only(["org.example.app"])
        #expect(try await useCases.erasure(id: record.id.rawValue, allowed: foreign) == nil)
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await useCases.erase(id: id, allowed: foreign, waiting: .zero)
        }
    }

    @Test(arguments: ["", "acc_", "acc_0193a5e0-7c00-7abc-8def-0123456789ab", "era_x", "\u{0}"])
    func `finds no erasure of what never was`(id: String) async throws {
        let (_, process) = try await World.running()
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await process.useCases.erase(id: id, allowed: .all)
        }
        #expect(try await process.useCases.erasure(id: id, allowed: .all) == nil)
    }
}

/// Changes of an account between the look-up by the caller of an erasure and the erasure itself.
@Suite struct ErasureScopeTests {
    private static let key = SubjectKey.sample("person")

    @Test func `refuses an erasure when the user signs in to an app hidden from the caller`() async throws {
        let subject = try Subject(before: [
            { _ = try await $0.signIn(.sample(key: Self.key, clientID: "com.example.other")) }
        ])
        let account = try await subject.store.signIn(.sample(key: Self.key)).account
        await #expect(throws: CallerForbidden()) {
            try await subject.useCases.erase(
                id: account.id.rawValue, allowed: .only(["com.example.app"]), waiting: .zero)
        }
        let found = try #require(try await subject.store.account(account.id))
        #expect(found.credentials.map(\.clientID) == ["com.example.app", "com.example.other"])
    }

    @Test(arguments: 1...3)
    func `erases an account that gets another name meanwhile`(moves: Int) async throws {
        let transfers = (1...moves).map { number -> MeddlingStore.Event in
            { store in
                let team = TeamID(stringLiteral: "OTHERTEAM\(number - 1)")
                let from = number == 1 ? Self.key : .sample(team: team, "moved-\(number - 1)")
                let account = try #require(try await store.account(from))
                let to = SubjectKey.sample(
                    team: TeamID(stringLiteral: "OTHERTEAM\(number)"), "moved-\(number)")
                let command = TransferCommand(
                    accountID: account.id, from: nil, to: to, clientID: "com.example.app", email: nil,
                    createdAt: 1, receivedAt: 2000)
                _ = try await store.carryOut(.transfer(command))
            }
        }
        let subject = try Subject(before: transfers)
        let account = try await subject.store.signIn(.sample(key: Self.key)).account
        let record = try await subject.useCases.erase(
            id: account.id.rawValue, allowed: .only(["com.example.app"]), waiting: .zero)
        #expect(record.team.rawValue == "OTHERTEAM\(moves)")
        #expect(try await subject.store.account(account.id) == nil)
    }

    @Test func `gives the record of an erasure that was faster`() async throws {
        let subject = try Subject(before: [
            {
                let account = try #require(try await $0.account(Self.key))
                _ = try await $0.carryOut(.erase(.sample(9, account: account)))
            }
        ])
        let id = try await subject.store.signIn(.sample(key: Self.key)).account.id.rawValue
        let record = try await subject.useCases.erase(id: id, allowed: .all, waiting: .zero)
        #expect(record.id == ErasureID(.sample(9)))
    }

    @Test func `tells a limited caller of an erasure only what its apps are concerned`() async throws {
        let subject = try Subject()
        let useCases = subject.useCases
        try await subject.store.hold(1, key: Self.key)
        let account = try await subject.store.hold(2, key: Self.key, clientID: "com.example.other")
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
            #expect(ErasureAction(afterProof: AppleCallError(code)) == .retry(.prove, cause: code.rawValue))
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
