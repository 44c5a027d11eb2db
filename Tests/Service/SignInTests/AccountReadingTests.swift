import AppleAccounts
import Commits
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import SignIn

@Suite struct AccountReadingTests {
    let subject: Subject

    init() throws {
        subject = try Subject()
    }

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

    @Test(arguments: [
        #"{"name":7}"#, #"{"name":{"firstName":7}}"#, #"{"email":true}"#, "7", "",
    ])
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
