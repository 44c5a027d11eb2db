import AppleAccounts
import AppleIdentity
import Commits
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import SignIn

@Suite struct NotificationTests {
    let subject: Subject

    init() throws {
        subject = try Subject()
        subject.setClock(3600)
    }

    private func state(_ clientID: String = "com.example.app") async throws -> Credential {
        try await subject.useCases.credential(
            subject: TokenMint.subject, clientID: clientID, allowed: .all
        ).value
    }

    @Test func `revokes on a withdrawn consent, once`() async throws {
        try await subject.signIn()
        let payload = try Subject.notification(at: 60)
        #expect(try await subject.useCases.commitNotification(payload) == .applied)
        #expect(try await subject.useCases.commitNotification(payload) == .duplicate)
        #expect(
            try await subject.useCases.commitNotification(Subject.notification(at: 60, jti: "jti-2"))
                == .duplicate)
        #expect(try await state().state == .revoked)
        #expect(try await state().reason == .consentRevoked)
        #expect(try await state().since == Moment(seconds: TokenMint.sampleTime + 60))
    }

    @Test func `recognises a notification without identifier by its payload`() async throws {
        let unknown = try Subject.notification("surprise", at: 60, jti: nil)
        #expect(try await subject.useCases.commitNotification(unknown) == .unknownType)
        #expect(try await subject.useCases.commitNotification(unknown) == .duplicate)
    }

    @Test(arguments: ["account-delete", "account-deleted"])
    func `ends all apps when the Apple Account is deleted`(type: String) async throws {
        try await subject.signIn()
        try await subject.signIn(0, ["aud": .string("com.example.other")])
        let payload = try Subject.notification(type, at: 60)
        #expect(try await subject.useCases.commitNotification(payload) == .applied)
        #expect(try await state().reason == .appleAccountDeleted)
        #expect(try await state("com.example.other").reason == .appleAccountDeleted)
        #expect(try await state("org.example.app").state == .notFound)
    }

    @Test(
        arguments: [("email-disabled", .disabled), ("email-enabled", .enabled)] as [(String, EmailForwarding)]
    )
    func `follows the forwarding switch and the address`(
        type: String, expected: EmailForwarding
    ) async throws {
        try await subject.signIn()
        let event = JSONObject([
            ("type", .string(type)), ("sub", .string(TokenMint.subject)),
            ("event_time", .integer((TokenMint.sampleTime + 60) * 1000 + 5)),
            ("email", .string("new@privaterelay.appleid.com")), ("is_private_email", .string("true")),
        ])
        var claims = TokenMint.notificationClaims(at: TokenMint.sampleTime + 61, event: event)
        claims["jti"] = .string("jti-1")
        let payload = try TokenMint.shared.sign(claims)
        #expect(try await subject.useCases.commitNotification(payload) == .applied)
        let account = try await subject.useCases.account(
            subject: TokenMint.subject, clientID: "com.example.app", allowed: .all)
        #expect(account.emailForwarding == expected)
        #expect(account.email == "new@privaterelay.appleid.com")
        #expect(account.isPrivateEmail == true)
        #expect(account.isEmailVerified == true)
    }

    @Test func `takes what concerns a user not known here`() async throws {
        let payload = try Subject.notification(at: 60)
        #expect(try await subject.useCases.commitNotification(payload) == .applied)
        #expect(try await state().state == .revoked)
        await #expect(throws: AccountRefusal(.credentialRevoked)) { try await subject.signIn(60) }
    }

    @Test(
        arguments: [
            (["iss": .string("https://evil.example")], .issuerMismatch),
            (["aud": .string("com.unknown.app")], .audienceMismatch),
            (["events": nil], .notANotification),
            (["exp": .integer(TokenMint.sampleTime - 86400)], .tokenExpired),
        ] as [([String: JSONValue?], AppleTokenError.Code)])
    func `keeps nothing of what does not verify`(
        changes: [String: JSONValue?], code: AppleTokenError.Code
    ) async throws {
        let bad = try Subject.notification(at: 60, changes)
        await #expect(throws: AppleTokenError(code)) {
            try await subject.useCases.commitNotification(bad)
        }
        #expect(try await state().state == .notFound)
        // The identifier was not remembered either.
        let good = try Subject.notification(at: 60)
        #expect(try await subject.useCases.commitNotification(good) == .applied)
    }

    @Test func `takes no identity token for a notification and no notification for an identity token`()
        async throws
    {
        await #expect(throws: AppleTokenError(.notANotification)) {
            try await subject.useCases.commitNotification(Subject.token())
        }
        await #expect(throws: AppleTokenError(.notAnIdentityToken)) {
            try await subject.useCases.commitSignIn(
                SignInRequest(token: IdentityTokenRequest(identityToken: Subject.notification())),
                allowed: .all)
        }
    }
}

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
