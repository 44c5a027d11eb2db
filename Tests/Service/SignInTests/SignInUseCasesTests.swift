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

    init() throws { subject = try Subject() }

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
        await #expect(throws: AppleTokenError.self) { try await subject.useCases.commitNotification(token) }
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
    fileprivate var isNow: Bool { if case .work = self { false } else { true } }
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

@Suite struct AccountReadingTests {
    let subject: Subject

    init() throws { subject = try Subject() }

    @Test func `finds an account by its ID and by its user`() async throws {
        let account = try await subject.signIn().account
        let useCases = subject.useCases
        #expect(try await useCases.account(id: account.id.rawValue, allowed: .all) == account)
        #expect(
            try await useCases.account(
                subject: TokenMint.subject, clientID: "com.example.web", allowed: .all) == account)
    }

    @Test(arguments: ["", "acc_", "acc_00000000-0000-7000-8000-000000000000", "' OR 1=1 --", "\u{0}"])
    func `does not find what is not there`(text: String) async throws {
        try await subject.signIn()
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await subject.useCases.account(id: text, allowed: .all)
        }
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await subject.useCases.account(subject: text, clientID: "com.example.app", allowed: .all)
        }
        let credential = try await subject.useCases.credential(
            subject: text, clientID: "com.example.app", allowed: .all
        ).value
        #expect(credential.state == .notFound)
        #expect(credential.clientID == "com.example.app")
    }

    @Test func `shows a limited caller the credentials of its apps`() async throws {
        let account = try await subject.signIn().account
        try await subject.signIn(1, ["aud": .string("com.example.other")])
        let allowed = AppScope.only(["com.example.other"])
        let found = try await subject.useCases.account(id: account.id.rawValue, allowed: allowed)
        #expect(found.credentials.map(\.clientID) == ["com.example.other"])
        let outcome = try await subject.signIn(2, allowed: .only(["com.example.app"]))
        #expect(outcome.account.credentials.map(\.clientID) == ["com.example.app"])
    }

    @Test func `hides the accounts of users who never used the apps of a limited caller`() async throws {
        let account = try await subject.signIn().account
        let allowed = AppScope.only(["com.example.other"])
        let useCases = subject.useCases
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await useCases.account(id: account.id.rawValue, allowed: allowed)
        }
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await useCases.account(
                subject: TokenMint.subject, clientID: "com.example.other", allowed: allowed)
        }
        let hidden = try await useCases.events(after: 0, limit: 10, wait: .zero, allowed: allowed)
        #expect(hidden == EventPage(events: [], cursor: 2, hasMore: false))

        // What Apple said of the user for one of its apps is enough, a sign-in is not needed.
        let key = SubjectKey(team: account.team, subject: account.subject)
        try await subject.store.notify(.sample(key: key, clientID: "com.example.other"))
        let found = try await useCases.account(id: account.id.rawValue, allowed: allowed)
        #expect(found.credentials.map(\.clientID) == ["com.example.other"])
        #expect(found.credentials.map(\.state) == [.revoked])
        let told = try await useCases.events(after: 0, limit: 10, wait: .zero, allowed: allowed)
        #expect(told.events.map(\.kind) == [.accountCreated, .credentialRevoked])
    }

    @Test func `hides the accounts of another team from a limited caller`() async throws {
        let account = try await subject.signIn().account
        let allowed = AppScope.only(["org.example.app"])
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await subject.useCases.account(id: account.id.rawValue, allowed: allowed)
        }
        await #expect(throws: CallerForbidden()) {
            try await subject.useCases.account(
                subject: TokenMint.subject, clientID: "com.example.app", allowed: allowed)
        }
    }

    @Test func `refuses client IDs that are unknown or not the caller's`() async throws {
        let useCases = subject.useCases
        await #expect(throws: UnknownClientID()) {
            try await useCases.credential(subject: "x", clientID: "com.unknown.app", allowed: .all).value
        }
        await #expect(throws: UnknownClientID()) {
            try await useCases.credentials(subjects: ["x"], clientID: "", allowed: .all)
        }
        await #expect(throws: CallerForbidden()) {
            try await useCases.credential(
                subject: "x", clientID: "com.example.web", allowed: .only(["com.example.other"])
            ).value
        }
    }

    @Test func `answers for many users in their order`() async throws {
        try await subject.signIn()
        try await subject.signIn(0, ["sub": .string("another")])
        let credentials = try await subject.useCases.credentials(
            subjects: ["unknown", "another", "", TokenMint.subject, "\u{0}", "another"],
            clientID: "com.example.web", allowed: .all)
        #expect(
            credentials.map(\.state)
                == [.notFound, .authorized, .notFound, .authorized, .notFound, .authorized])
        #expect(Set(credentials.map(\.clientID)) == ["com.example.app"])
    }
}

/// The forms in which apps and libraries have the name that Apple sends once.
@Suite struct UserProfileTests {
    @Test(arguments: [
        #"{"name":{"firstName":"Ada","lastName":"Lovelace"}}"#,
        #"{"firstName":"Ada","lastName":"Lovelace"}"#,
        // Flutter (sign_in_with_apple) and Capacitor: flat, with absent members as null.
        #"{"userIdentifier":"0.a.1","givenName":"Ada","familyName":"Lovelace","email":null}"#,
        // Expo and React Native: nested beside more parts of the name.
        #"{"user":"0.a.1","fullName":{"namePrefix":null,"givenName":"Ada","middleName":"King","familyName":"Lovelace"}}"#,
        // Unity: properties, or fields, of its classes.
        #"{"FullName":{"GivenName":"Ada","FamilyName":"Lovelace"},"Email":null}"#,
        #"{"_fullName":{"_givenName":"Ada","_familyName":"Lovelace"}}"#,
        #"{"given_name":"Ada","family_name":"Lovelace"}"#, #"{"name":"Ada Lovelace"}"#,
        #"{"full_name":"Ada\u00a0Lovelace"}"#, #"{"displayName":"Ada Lovelace"}"#,
        #"{"name":{"firstName":"","givenName":"Ada","lastName":"Lovelace"}}"#,
    ])
    func `gives the name`(text: String) throws {
        let profile = try UserProfile(parsing: text)
        #expect(profile == UserProfile(firstName: "Ada", lastName: "Lovelace"))
    }

    @Test func `gives the address, and one word as the first name`() throws {
        let profile = try UserProfile(parsing: #"{"Email":"ada@example.com","name":"Ada"}"#)
        #expect(profile == UserProfile(firstName: "Ada", email: "ada@example.com"))
        #expect(try UserProfile(parsing: #"{"name":"Ada King Lovelace"}"#).lastName == "King Lovelace")
    }

    @Test(arguments: [
        "{}", #"{"name":null}"#, #"{"name":{}}"#, #"{"name":"  "}"#, #"{"nickname":"Ada"}"#,
        #"{"fullName":7,"givenName":["Ada"],"Email":{}}"#,
    ])
    func `is empty without a name`(text: String) throws {
        #expect(try UserProfile(parsing: text) == UserProfile())
    }

    @Test(arguments: [#"{"name":7}"#, #"{"name":{"firstName":7}}"#, #"{"email":true}"#, "7", ""])
    func `refuses another type`(text: String) {
        #expect(throws: UserProfile.Fault.self) { try UserProfile(parsing: text) }
    }

    @Test(arguments: ["-", "ada", "@", "a@", "@b"])
    func `drops what is no address, and says so`(text: String) throws {
        let profile = try UserProfile(JSONObject([("email", .string(text))]))
        #expect(profile.email == nil)
        #expect(profile.dropped == ["user.email"])
    }

    @Test(arguments: [
        ("Ada\nMaria", "Ada Maria"), ("Ada\r\n", "Ada"), ("\u{7F}Ada\t\tMaria\u{85}", "Ada Maria"),
        (String(repeating: "a", count: 300), String(repeating: "a", count: 256)),
        (String(repeating: "👩‍👩‍👧", count: 60), String(repeating: "👩‍👩‍👧", count: 51)),
    ])
    func `a name is cleaned and cut, and never lost`(name: String, expected: String) {
        let command = SignInCommand(
            key: SubjectKey(team: "A1B2C3D4E5", subject: "0.a.1"),
            clientID: "com.example.app", authorizedAt: Moment(seconds: 1), profile: Profile(firstName: name),
            receivedAt: Moment(seconds: 1))
        #expect(command.profile.firstName == expected)
    }

    @Test func `says that a long name is cut`() throws {
        let long = String(repeating: "a", count: 257)
        #expect(try UserProfile(JSONObject([("givenName", .string(long))])).dropped == ["user.name"])
        let longest = String(repeating: "a", count: 256)
        #expect(try UserProfile(JSONObject([("givenName", .string(longest))])).dropped == [])
    }
}
