import AppleAccounts
import AppleIDClient
import KeySets
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import SignIn

@Suite struct CodeExchangeTests {
    @Test(arguments: World.Storage.allCases)
    func `exchanges a code that came with a sign-in, and holds the token`(
        storage: World.Storage
    ) async throws {
        try await World.with(storage) { world in
            world.apple.know(code: World.code)
            let process = try world.process()
            #expect(try await process.signIn(world).credential.refreshToken == .pending)
            #expect(world.apple.questions.isEmpty)
            await process.exchangeDue()
            #expect(try await world.status() == .held)
            #expect(try await world.store.nextDue().code == nil)
            let question = try #require(world.apple.questions.first)
            #expect(world.apple.questions.count == 1)
            #expect(question.secret == World.code)
            #expect(question.clientID == "com.example.app")
            #expect(question.redirectURI == nil)
        }
    }

    @Test func `uses the token's own audience and the redirect URI of the web`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code, clientID: World.web)
            let process = try world.process()
            try await process.signIn(
                world, redirectURI: "https://example.com/back", ["aud": .string(World.web)])
            await process.exchangeDue()
            #expect(try await world.status() == .held)
            #expect(world.apple.questions.map(\.clientID) == [World.web])
            #expect(world.apple.questions.map(\.redirectURI) == ["https://example.com/back"])
            // And the token is checked with it.
            world.pass(.seconds(86_400 + 3600))
            await process.checkDue()
            #expect(world.apple.questions(.validate).map(\.clientID) == [World.web])
            #expect(try await world.credential().state == .authorized)
        }
    }

    @Test func `says nothing of a refresh token when no code came`() async throws {
        try await World.with { world in
            let process = try world.process()
            #expect(try await process.signIn(world, code: nil).credential.refreshToken == nil)
            #expect(try await world.store.sealedCount() == 0)
        }
    }

    @Test(
        arguments: [([], true, .noSealingKey), (["first"], false, .noSigningKey)]
            as [([String], Bool, RefreshTokenCause)])
    func `signs in without a key, and keeps nothing`(
        keys: [String], canSign: Bool, cause: RefreshTokenCause
    ) async throws {
        try await World.with { world in
            let process = try world.process(keys: keys, canSign: canSign)
            #expect(try await process.signIn(world).credential.refreshToken == .unavailable(cause))
            #expect(try await world.store.sealedCount() == 0)
            await process.exchangeDue()
            #expect(world.apple.questions.isEmpty)
        }
    }

    @Test func `refuses a code that is not the token's`() async throws {
        try await World.with { world in
            let process = try world.process()
            await #expect(throws: (any Error).self) {
                try await process.useCases.commitSignIn(
                    SignInRequest(
                        token: IdentityTokenRequest(
                            identityToken: world.token("another"), authorizationCode: World.code)),
                    allowed: .all)
            }
            #expect(try await world.store.sealedCount() == 0)
        }
    }

    @Test(
        arguments: [
            (.invalidGrant, .codeRejected), (.invalidClient, .clientRejected),
            (AppleCallError(.rejected, appleError: .unauthorizedClient), .clientRejected),
            (AppleCallError(.noSigningKey), .noSigningKey),
            (AppleCallError(.timedOut), .exchangeUncertain),
            (AppleCallError(.connectionLost), .exchangeUncertain),
            (AppleCallError(.responseUnusable), .exchangeUncertain),
        ] as [(AppleCallError, RefreshTokenCause)])
    func `gives up with the cause, whether it happened or not`(
        error: AppleCallError, cause: RefreshTokenCause
    ) async throws {
        for fault in [ScriptedApple.Fault.failed(error), .happened(error)] {
            try await World.with { world in
                world.apple.know(code: World.code)
                world.apple.script(.exchange, fault)
                let process = try world.process()
                try await process.signIn(world)
                await process.exchangeDue()
                #expect(try await world.status() == .unavailable(cause))
                world.pass(.seconds(600))
                await process.exchangeDue()
                #expect(world.apple.questions.count == 1)
                #expect(try await world.store.sealedCount() == 0)
                // The sign-in was none the worse for it.
                #expect(try await world.credential().state == .authorized)
            }
        }
    }

    @Test(arguments: [.unreachable, .circuitOpen, .serverFailed, .throttled] as [AppleCallError.Code])
    func `tries again within the five minutes`(code: AppleCallError.Code) async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            for _ in 0..<4 { world.apple.script(.exchange, .failed(AppleCallError(code))) }
            let process = try world.process()
            try await process.signIn(world)
            for expected in 1...4 {
                await process.exchangeDue()
                #expect(world.apple.questions.count == expected)
                #expect(try await world.status() == .pending)
                await process.exchangeDue()
                #expect(world.apple.questions.count == expected)
                world.pass(.seconds(20))
            }
            await process.exchangeDue()
            #expect(try await world.status() == .held)
        }
    }

    /// Sign-ins of so many users, each with a code.
    private func signIn(_ numbers: Range<Int>, in world: World, _ process: ServiceRun) async throws {
        for number in numbers {
            let subject = "00000\(number).user"
            world.apple.know(code: "code-\(number)", subject: subject)
            try await process.signIn(world, code: "code-\(number)", ["sub": .string(subject)])
        }
    }

    @Test func `slows down as a whole when Apple throttles, and loses no code`() async throws {
        try await World.with { world in
            let process = try world.process()
            try await signIn(0..<10, in: world, process)
            for _ in 0..<11 { world.apple.script(.exchange, .failed(AppleCallError(.throttled))) }
            await process.exchangeDue()
            #expect(world.apple.questions.count == 10)
            // Codes that come meanwhile wait too.
            try await signIn(10..<20, in: world, process)
            await process.exchangeDue()
            #expect(world.apple.questions.count == 10)
            world.pass(.seconds(2))
            // One finds out that Apple still throttles, and then that it does not.
            await process.exchangeDue()
            await process.exchangeDue()
            #expect(world.apple.questions.count == 11)
            world.pass(.seconds(3))
            await process.exchangeDue()
            #expect(world.apple.questions.count == 12)
            #expect(world.apple.granted.count == 1)
            for _ in 0..<2 { await process.exchangeDue() }
            world.pass(.seconds(1))
            await process.exchangeDue()
            #expect(world.apple.granted.count == 20)
        }
    }

    @Test func `waits as long as Apple asks for, and half a minute at most`() async throws {
        try await World.with { world in
            let process = try world.process()
            try await signIn(0..<1, in: world, process)
            world.apple.script(
                .exchange, .failed(AppleCallError(.throttled, retryAfter: .seconds(3600))))
            await process.exchangeDue()
            try await signIn(1..<2, in: world, process)
            world.pass(.seconds(29))
            await process.exchangeDue()
            #expect(world.apple.questions.count == 1)
            world.pass(.seconds(1))
            await process.exchangeDue()
            #expect(world.apple.questions.map(\.secret) == ["code-0", "code-1"])
            // The code that was throttled is tried once more before it expires.
            world.pass(.seconds(268))
            await process.exchangeDue()
            #expect(world.apple.granted.count == 2)
        }
    }

    @Test func `lets a client ID rest that Apple refuses three times, and no other`() async throws {
        try await World.with { world in
            let process = try world.process()
            try await signIn(0..<3, in: world, process)
            for _ in 0..<3 { world.apple.script(.exchange, .failed(.invalidClient)) }
            await process.exchangeDue()
            #expect(world.apple.questions.count == 3)
            try await signIn(3..<4, in: world, process)
            world.apple.know(code: "web", clientID: World.web)
            try await process.signIn(world, code: "web", ["aud": .string(World.web)])
            await process.exchangeDue()
            // Another client ID is not concerned.
            #expect(world.apple.questions.map(\.secret).suffix(1) == ["web"])
            #expect(world.apple.questions.count == 4)
            world.pass(.seconds(29))
            await process.exchangeDue()
            #expect(world.apple.questions.count == 4)
            world.pass(.seconds(1))
            await process.exchangeDue()
            #expect(world.apple.questions.map(\.secret).suffix(1) == ["code-3"])
            #expect(world.apple.granted.count == 2)
        }
    }

    @Test func `gives up when the five minutes are over`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            for _ in 0..<100 { world.apple.script(.exchange, .failed(AppleCallError(.unreachable))) }
            let process = try world.process()
            try await process.signIn(world)
            let begun = world.now
            for _ in 0..<301 {
                await process.exchangeDue()
                // It is given up when no further attempt would come before its end.
                let isWaiting = try await world.status() == .pending
                let waiting = try await world.store.backlog(at: world.now).codes
                #expect(
                    waiting
                        == AppleTokensBacklog.Queue(count: isWaiting ? 1 : 0, since: isWaiting ? begun : nil))
                world.pass(.seconds(1))
            }
            #expect(try await world.status() == .unavailable(.codeExpired))
            #expect((10...16).contains(world.apple.questions.count))
            #expect(try await world.store.nextDue().code == nil)
        }
    }

    @Test func `asks nothing for a code that waited too long`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            let process = try world.process()
            try await process.signIn(world)
            world.pass(.seconds(300))
            await process.exchangeDue()
            #expect(world.apple.questions.isEmpty)
            #expect(try await world.status() == .unavailable(.codeExpired))
        }
    }

    @Test(
        arguments: [
            ["sub": .string("000000.somebody.else")], ["at_hash": .string("AAAAAAAAAAAAAAAAAAAAAA")],
            ["at_hash": nil], ["aud": .string("com.example.web")], ["iss": .string("https://evil.example")],
        ] as [[String: JSONValue?]])
    func `keeps no token of another user`(changes: [String: JSONValue?]) async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            world.apple.setClaims(changes)
            let process = try world.process()
            try await process.signIn(world)
            await process.exchangeDue()
            #expect(try await world.status() == .unavailable(.identityMismatch))
            #expect(try await world.store.sealedCount() == 0)
        }
    }

    @Test func `keeps no token without the word of whom it is`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            world.apple.leaveOut(identityToken: true)
            let process = try world.process()
            try await process.signIn(world)
            await process.exchangeDue()
            #expect(try await world.status() == .unavailable(.identityMismatch))
        }
    }

    @Test func `takes an answer without a token for an unusable one`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            world.apple.leaveOut(refreshToken: true)
            let process = try world.process()
            try await process.signIn(world)
            await process.exchangeDue()
            #expect(try await world.status() == .unavailable(.exchangeUncertain))
        }
    }

    @Test(arguments: [.keysUnavailable, .unknownKey] as [KeySetError.Code])
    func `does not throw a token away because Apple's keys are not at hand`(
        code: KeySetError.Code
    ) async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            try await world.process().signIn(world)
            let process = try world.process(verification: StubKeys(failure: code))
            await process.exchangeDue()
            #expect(try await world.status() == .held)
        }
    }

    @Test func `holds the newest token of two`() async throws {
        try await World.with { world in
            world.apple.know(code: "first")
            world.apple.know(code: "second")
            let process = try world.process()
            try await process.signIn(world, code: "first")
            world.pass(.seconds(5))
            try await process.signIn(world, code: "second")
            let codes = await process.exchange.claim(16).work
            #expect(codes.count == 2)
            for code in codes.reversed() { await process.exchange.perform(code) }
            #expect(try await world.status() == .held)
            world.pass(.seconds(86_400 + 3600))
            await process.checkDue()
            #expect(world.apple.questions(.validate).map(\.secret) == ["refresh-1-of-second"])
        }
    }

    @Test func `keeps trying to store a token that Apple gave only once`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            let fuse = Fuse()
            let process = try world.process(fuse: fuse)
            try await process.signIn(world)
            let codes = await process.exchange.claim(16).work
            // The fuse is of the database alone here: Apple is asked before it begins to flicker.
            world.apple.whenAsked { fuse.flicker(5) }
            for code in codes { await process.exchange.perform(code) }
            #expect(try await world.status() == .held)
            #expect(world.apple.questions.count == 1)
        }
    }

    @Test func `does not keep the token of a consent that ended meanwhile`() async throws {
        try await World.with { world in
            world.apple.know(code: World.code)
            let process = try world.process()
            try await process.signIn(world)
            let codes = await process.exchange.claim(16).work
            world.pass(.seconds(1))
            _ = try await process.useCases.commitNotification(Subject.notification(at: 11, jti: "ended"))
            for code in codes { await process.exchange.perform(code) }
            #expect(try await world.status() == .unavailable(.credentialRevoked))
            #expect(try await world.store.sealedCount() == 0)
        }
    }
}
