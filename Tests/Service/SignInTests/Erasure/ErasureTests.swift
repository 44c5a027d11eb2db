import AppleAccounts
import AppleIDClient
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import SignIn

@Suite struct ErasureTests {
    /// Makes an account with a held token.
    private func hold(in world: World, _ process: ServiceRun) async throws -> String {
        world.apple.know(code: World.code)
        let outcome = try await process.signIn(world)
        await process.exchangeDue()
        #expect(try await world.status() == .held)
        world.pass(.seconds(1))
        return outcome.account.id.rawValue
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
        return try #require(
            try await process.useCases.erasure(id: record.id.rawValue, allowed: .all))
    }

    @Test(arguments: World.Storage.allCases)
    func `revokes what was held, proves it, and forgets the user`(storage: World.Storage) async throws {
        try await World.with(storage) { world in
            let process = try world.process()
            let id = try await hold(in: world, process)
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
    }

    @Test(arguments: World.Storage.allCases)
    func `lets no old token bring the account back, and makes a new one for a new sign-in`(
        storage: World.Storage
    ) async throws {
        try await World.with(storage) { world in
            let process = try world.process()
            let old = try world.token(nil)
            let id = try await hold(in: world, process)
            _ = try await erase(id, in: world, process)
            await #expect(throws: AccountRefusal(.credentialRevoked)) {
                try await process.useCases.commitSignIn(
                    SignInRequest(token: IdentityTokenRequest(identityToken: old)), allowed: .all)
            }
            let again = try await process.signIn(world, code: nil)
            #expect(again.isNewAccount)
            #expect(again.account.id.rawValue != id)
        }
    }

    @Test func `answers the same when it is asked again`() async throws {
        try await World.with { world in
            let process = try world.process()
            let id = try await hold(in: world, process)
            let first = try await process.useCases.erase(id: id, allowed: .all, waiting: .zero)
            #expect(first.finishedAt == nil)
            let second = try await process.useCases.erase(id: id, allowed: .all, waiting: .zero)
            #expect(second.id == first.id)
            await process.eraseDue()
            let third = try await process.useCases.erase(id: id, allowed: .all)
            #expect(third.finishedAt != nil)
            #expect(world.apple.questions(.revoke).count == 1)
        }
    }

    @Test func `waits for the end, and for no longer than it was told`() async throws {
        try await World.with { world in
            let process = try world.process()
            let id = try await hold(in: world, process)
            // No worker runs.
            let record = try await process.useCases.erase(id: id, allowed: .all)
            #expect(record.finishedAt == nil)
            #expect(process.clock.slept == .seconds(8))
            async let waiting = process.useCases.erase(id: id, allowed: .all, waiting: .seconds(1_000_000))
            await process.eraseDue()
            #expect(try await waiting.finishedAt != nil)
        }
    }

    @Test func `is done at once where nothing was held, and says why the user has to do it`() async throws {
        try await World.with { world in
            let process = try world.process(keys: [])
            let outcome = try await process.signIn(world)
            let record = try await process.useCases.erase(id: outcome.account.id.rawValue, allowed: .all)
            #expect(record.finishedAt != nil)
            #expect(record.tokens.isEmpty)
            #expect(record.apps.map(\.refreshTokenCause) == [.noSealingKey])
            #expect(process.clock.slept == .zero)
        }
    }

    @Test func `revokes again while the token still answers`() async throws {
        try await World.with { world in
            let process = try world.process()
            let id = try await hold(in: world, process)
            world.apple.setRevokes(false)
            var record = try await erase(id, in: world, process, rounds: 3)
            #expect(record.finishedAt == nil)
            #expect(record.tokens.map(\.cause) == ["still_valid"])
            #expect(world.apple.questions(.revoke).count == 3)
            world.apple.setRevokes(true)
            record = try await erase(id, in: world, process)
            #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
        }
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
            for fault in [
                ScriptedApple.Fault.failed(AppleCallError(code)), .happened(AppleCallError(code)),
            ] {
                try await World.with { world in
                    let process = try world.process()
                    let id = try await hold(in: world, process)
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
    }

    @Test func `ends after seven days of an Apple that is out of reach`() async throws {
        try await World.with { world in
            let process = try world.process()
            let id = try await hold(in: world, process)
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
    }

    @Test func `gives up at once without a key, and says so`() async throws {
        try await World.with { world in
            let id = try await hold(in: world, world.process())
            let record = try await erase(id, in: world, world.process(keys: []))
            #expect(record.tokens.map(\.step) == [.done(.notRevoked)])
            #expect(record.tokens.map(\.cause) == ["no_sealing_key"])
        }
        try await World.with { world in
            let process = try world.process()
            let id = try await hold(in: world, process)
            world.apple.script(.revoke, .failed(AppleCallError(.noSigningKey)))
            let record = try await erase(id, in: world, process)
            #expect(record.tokens.map(\.cause) == ["no_signing_key"])
        }
    }

    @Test func `waits for a key that can come back`() async throws {
        try await World.with { world in
            let id = try await hold(in: world, world.process())
            var record = try await erase(id, in: world, world.process(keys: ["second"]))
            #expect(record.finishedAt == nil)
            #expect(record.tokens.map(\.cause) == ["sealed_unreadable"])
            record = try await erase(id, in: world, world.process(keys: ["second", "first"]))
            #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
        }
    }

    @Test func `exchanges a code that was still waiting, only to revoke what it brings`() async throws {
        try await World.with { world in
            let process = try world.process()
            world.apple.know(code: World.code)
            let outcome = try await process.signIn(world)
            world.pass(.seconds(1))
            let record = try await erase(outcome.account.id.rawValue, in: world, process)
            #expect(record.tokens.map(\.step) == [.done(.provenRevoked)])
            #expect(world.apple.questions.map(\.call) == [.exchange, .revoke, .validate])
            #expect(world.apple.granted.count == 1)
            #expect(world.apple.good.isEmpty)
        }
    }

    @Test func `takes over the token of an exchange that was under way`() async throws {
        try await World.with { world in
            let process = try world.process()
            world.apple.know(code: World.code)
            let outcome = try await process.signIn(world)
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
    }

    @Test(
        arguments: [
            (.failed(.invalidGrant), "code_rejected"), (.failed(.invalidClient), "client_rejected"),
            (.happened(AppleCallError(.timedOut)), "exchange_uncertain"),
        ] as [(ScriptedApple.Fault, String)])
    func `says why a code could not be made a token`(
        fault: ScriptedApple.Fault, cause: String
    ) async throws {
        try await World.with { world in
            let process = try world.process()
            world.apple.know(code: World.code)
            world.apple.script(.exchange, fault)
            let outcome = try await process.signIn(world)
            world.pass(.seconds(1))
            let record = try await erase(outcome.account.id.rawValue, in: world, process)
            #expect(record.tokens.map(\.step) == [.done(.notRevoked)])
            #expect(record.tokens.map(\.cause) == [cause])
        }
    }

    @Test func `is for callers who may see all apps of the account`() async throws {
        try await World.with { world in
            let process = try world.process()
            let id = try await hold(in: world, process)
            try await process.signIn(world, code: nil, ["aud": .string("com.example.other")])
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
    }

    @Test(arguments: ["", "acc_", "acc_0193a5e0-7c00-7abc-8def-0123456789ab", "era_x", "\u{0}"])
    func `finds no erasure of what never was`(id: String) async throws {
        try await World.with { world in
            let process = try world.process()
            await #expect(throws: AccountRefusal(.accountNotFound)) {
                try await process.useCases.erase(id: id, allowed: .all)
            }
            #expect(try await process.useCases.erasure(id: id, allowed: .all) == nil)
        }
    }
}
