import AppleAccounts
import AppleIdentity
import Commits
import KeySets
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import SignIn

@Suite struct SignInUseCasesTests {
    let subject: Subject

    init() throws {
        subject = try Subject()
    }

    @Test func `signs a user in with all that the token says`() async throws {
        let outcome = try await subject.signIn(
            user: UserProfile(firstName: "Ada", lastName: "Lovelace", email: "posted@example.com"))
        #expect(outcome.isNewAccount)
        #expect(outcome.account.team == "A1B2C3D4E5")
        #expect(outcome.account.subject.rawValue == TokenMint.subject)
        #expect(outcome.account.email == "q4zjk7x2rt@privaterelay.appleid.com")
        #expect(outcome.account.isEmailVerified == true)
        #expect(outcome.account.isPrivateEmail == true)
        #expect(outcome.account.profile.firstName == "Ada")
        #expect(outcome.account.profile.lastName == "Lovelace")
        #expect(outcome.account.realUserStatus == 2)
        #expect(outcome.account.createdAt == Moment(seconds: TokenMint.sampleTime + 10))
        #expect(outcome.credential.clientID == "com.example.app")
        #expect(outcome.credential.since == Moment(seconds: TokenMint.sampleTime))
        #expect(try await !subject.signIn(5).isNewAccount)
        #expect(subject.keys.fetchCount == 0)
    }

    @Test func `takes auth_time for the authorization moment before iat`() async throws {
        let early = try await subject.signIn(0, ["auth_time": .integer(TokenMint.sampleTime - 7)])
        #expect(early.credential.since == Moment(seconds: TokenMint.sampleTime - 7))
        let without = try await subject.signIn(3, ["auth_time": nil])
        #expect(without.credential.since == Moment(seconds: TokenMint.sampleTime + 3))
    }

    @Test func `keeps one account under all client IDs of an app, and names the primary one`() async throws {
        let native = try await subject.signIn()
        let web = try await subject.signIn(1, ["aud": .string("com.example.web")])
        #expect(web.account.id == native.account.id)
        #expect(web.credential.clientID == "com.example.app")
        #expect(web.account.credentials.count == 1)
    }

    @Test(
        arguments: [
            (["iss": .string("https://evil.example")], .issuerMismatch),
            (["aud": .string("com.unknown.app")], .audienceMismatch),
            (["exp": .integer(TokenMint.sampleTime - 3600)], .tokenExpired),
            (["iat": .integer(TokenMint.sampleTime + 3600)], .issuedInFuture),
            (["sub": .string("")], .subjectInvalid),
            (["events": .string("{}")], .notAnIdentityToken),
        ] as [([String: JSONValue?], AppleTokenError.Code)])
    func `stores nothing of a token that is refused`(
        changes: [String: JSONValue?], code: AppleTokenError.Code
    ) async throws {
        await #expect(throws: AppleTokenError(code)) { try await subject.signIn(0, changes) }
        #expect(try await subject.store.allEvents().isEmpty)
    }

    @Test(arguments: ["", "a.b", "a.b.c", "....", "\u{0}", String(repeating: "x", count: 20_000)])
    func `asks for no key for garbage`(token: String) async throws {
        await #expect(throws: AppleTokenError.self) {
            try await subject.useCases.commitSignIn(
                SignInRequest(token: IdentityTokenRequest(identityToken: token)), allowed: .all)
        }
        await #expect(throws: AppleTokenError.self) {
            try await subject.useCases.commitNotification(token)
        }
        #expect(subject.keys.fetchCount == 0)
    }

    @Test func `fetches a key that is not at hand`() async throws {
        let keys = StubKeys(fetched: try TokenMint.shared.publicKeys())
        let subject = try Subject(keys: keys)
        #expect(try await subject.signIn().isNewAccount)
        #expect(keys.fetchCount == 1)
    }

    @Test(arguments: [.unknownKey, .keysUnavailable] as [KeySetError.Code])
    func `says why there is no key`(code: KeySetError.Code) async throws {
        let subject = try Subject(keys: StubKeys(failure: code))
        await #expect(throws: KeySetError(code)) { try await subject.signIn() }
        await #expect(throws: KeySetError(code)) {
            try await subject.useCases.commitNotification(Subject.notification())
        }
    }

    @Test func `verifies without storing anything`() async throws {
        let verified = try await subject.useCases.verify(
            IdentityTokenRequest(identityToken: Subject.token(), clientID: "com.example.app"), allowed: .all
        ).value
        #expect(verified.app == Subject.app)
        #expect(verified.identity.subject == TokenMint.subject)
        #expect(try await subject.store.allEvents().isEmpty)
        await #expect(throws: AppleTokenError(.audienceMismatch)) {
            try await subject.useCases.verify(
                IdentityTokenRequest(identityToken: Subject.token(), clientID: "com.example.web"),
                allowed: .all
            ).value
        }
    }

    @Test func `refuses a caller who may not see the app, and stores nothing`() async throws {
        let allowed = AppScope.only(["com.example.other"])
        await #expect(throws: CallerForbidden()) { try await subject.signIn(allowed: allowed) }
        await #expect(throws: CallerForbidden()) {
            try await subject.useCases.verify(
                IdentityTokenRequest(identityToken: Subject.token()), allowed: allowed
            ).value
        }
        #expect(try await subject.store.allEvents().isEmpty)
        // The web client ID is the app's too.
        let outcome = try await subject.signIn(
            0, ["aud": .string("com.example.web")], allowed: .only(["com.example.app"]))
        #expect(outcome.isNewAccount)
    }

    @Test func `refuses a token from before the revocation and takes one from after`() async throws {
        try await subject.signIn(0)
        subject.setClock(60)
        #expect(try await subject.useCases.commitNotification(Subject.notification(at: 5)) == .applied)
        await #expect(throws: AccountRefusal(.credentialRevoked)) { try await subject.signIn(4) }
        await #expect(throws: AccountRefusal(.credentialRevoked)) { try await subject.signIn(5) }
        #expect(try await subject.signIn(6).credential.state == .authorized)
    }

    @Test func `makes no account for a stranger when it is asked not to`() async throws {
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await subject.signIn(createsAccount: false)
        }
        #expect(try await subject.store.allEvents().isEmpty)
    }

    @Test func `does not let a posted address become a signed one`() async throws {
        let outcome = try await subject.signIn(
            0, ["email": nil, "email_verified": nil, "is_private_email": nil],
            user: UserProfile(email: "victim@example.com"))
        #expect(outcome.account.email == "victim@example.com")
        #expect(outcome.account.isEmailVerified == false)
        #expect(outcome.account.isPrivateEmail == nil)
    }
}

/// Cases in which a use case has to wait, and the commands that it leaves to commit.
@Suite struct StepTests {
    private static func request() throws -> IdentityTokenRequest {
        IdentityTokenRequest(identityToken: try Subject.token())
    }

    @Test func `has the result at once when the key is at hand`() throws {
        let useCases = try Subject().useCases
        #expect(try useCases.verify(Self.request(), allowed: .all).isNow)
        #expect(try useCases.signIn(SignInRequest(token: Self.request()), allowed: .all).isNow)
        #expect(try useCases.receiveNotification(payload: Subject.notification()).isNow)
    }

    @Test func `waits for a key that has to be fetched, and fetches it once`() async throws {
        let keys = StubKeys(fetched: try TokenMint.shared.publicKeys())
        let useCases = try Subject(keys: keys).useCases
        let verification = try useCases.verify(Self.request(), allowed: .all)
        let signIn = try useCases.signIn(SignInRequest(token: Self.request()), allowed: .all)
        let notification = try useCases.receiveNotification(payload: Subject.notification())
        #expect(!verification.isNow && !signIn.isNow && !notification.isNow)
        #expect(keys.fetchCount == 0)
        _ = try await verification.value
        _ = try await (signIn.value, notification.value)
        #expect(keys.fetchCount == 3)
    }

    @Test func `waits for the state of a credential when the store has to`() async throws {
        let useCases = try Subject().useCases
        let unknown = try useCases.credential(subject: "x", clientID: "com.example.app", allowed: .all)
        #expect(!unknown.isNow)
        let impossible = try useCases.credential(subject: "", clientID: "com.example.app", allowed: .all)
        #expect(impossible.isNow)
        #expect(try await unknown.value == impossible.value)
    }

    @Test func `stores nothing before the commit is submitted`() async throws {
        let subject = try Subject()
        let step = try subject.useCases.signIn(SignInRequest(token: Self.request()), allowed: .all)
        #expect(try await subject.store.allEvents().isEmpty)
        #expect(try await step.value.outcome.isNewAccount)
    }

    @Test func `takes the outcome of its own command only`() throws {
        let step = try Subject().commits.step(NotificationCommand.sample()) { $0 }
        guard case .accounts(let pending) = step else {
            Issue.record("no command")
            return
        }
        guard case .now(.applied) = try pending.next(.success(.notification(.applied))) else {
            Issue.record("another outcome")
            return
        }
        #expect(throws: StorageError(.unavailable, detail: "")) {
            _ = try pending.next(.success(.exchangeFinished(.kept)))
        }
    }
}

extension Step {
    fileprivate var isNow: Bool {
        if case .work = self { false } else { true }
    }
}

@Suite struct AppScopeTests {
    @Test func `allows the apps that it names`() throws {
        let scope = AppScope.only(["com.example.other"])
        #expect(AppScope.all.allows(Subject.app))
        #expect(!scope.allows(Subject.app))
        #expect(scope.allows(Subject.other))
    }

    @Test func `allows nothing when it names nothing`() throws {
        #expect(!AppScope.only([]).allows(Subject.app))
        #expect(!AppScope.only([]).allowsAny(of: [Subject.app.primaryClientID]))
    }
}
