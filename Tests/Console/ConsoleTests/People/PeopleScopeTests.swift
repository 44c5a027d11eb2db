import AppleAccounts
import StorageConformance
import Testing

@testable import Console

/// An operator whose key is limited to some apps.
@Suite struct PeopleScopeTests {
    let people: PeopleUnderTest
    private static let scope = AppScope.only([PeopleUnderTest.other])

    init() throws {
        people = try PeopleUnderTest()
    }

    @Test(arguments: [
        "secret@hidden.example", "Zenobia", "Quill", "001999.0123456789abcdef.0123", "",
    ])
    func `finds no person of other apps`(text: String) async throws {
        let account = try await people.signIn()
        let own = try await people.signIn(
            "001999.own.0123", to: PeopleUnderTest.other, email: "own@example.com")
        for field in [text, account.id.rawValue] {
            let page = try await people.text(.post, "/people", ["q": field], scope: Self.scope)
            #expect(!page.contains("/people/\(account.id.rawValue)"))
            #expect(!page.contains(">com.example.app<"))
        }
        let all = try await people.text(.get, "/people", scope: Self.scope)
        #expect(all.contains(own.id.rawValue))
    }

    @Test(arguments: [
        ["app": "com.example.app"], ["state": "revoked"], ["disabled": "yes"], ["reason": "consent_revoked"],
    ])
    func `learns nothing about other apps from filters`(fields: [String: String]) async throws {
        let account = try await people.signIn()
        try await people.store.notify(.sample(at: 2_000_000))
        try await people.store.signIn(
            .sample(key: .sample("001999.own.0123"), clientID: PeopleUnderTest.other))
        try await people.store.change(DisableCommand.sample(account))
        let page = try await people.text(.post, "/people", fields, scope: Self.scope)
        #expect(page.contains("No account was found"))
    }

    @Test(arguments: [
        (ConsolePage.Method.get, "/people/{account}"), (.get, "/people/{account}/erase"),
        (.post, "/people/{account}/show"), (.post, "/people/{account}/disable"),
        (.post, "/people/{account}/enable"), (.post, "/people/{account}/sign-out"),
        (.post, "/people/{account}/erase"),
    ])
    func `cannot open or change a person of other apps, nor learn that there is one`(
        method: ConsolePage.Method, path: String
    ) async throws {
        let account = try await people.signIn()
        let fields = ["reason": "fraud", "confirm": "erase"]
        let before = try await people.store.account(account.id)
        let found = try await people.text(method, path, account: account.id, fields, scope: Self.scope)
        #expect(found == "not found")
        let none = try await people.text(
            method, path, account: AccountID(.sample(77)), fields, scope: Self.scope)
        #expect(none == found)
        #expect(try await people.store.account(account.id) == before)
        #expect(people.audit.entries == [])
    }

    @Test func `sees its own credential, events and history of a person of several apps`() async throws {
        let account = try await people.signIn()
        try await people.signIn(to: PeopleUnderTest.other, authorizedAt: 1_500_000)
        try await people.store.notify(.sample(at: 900_000, payload: "not.a.token"))
        try await people.store.notify(.sample(at: 2_000_000))
        let page = try await people.person(account.id, scope: Self.scope)
        #expect(page.contains("com.example.other"))
        #expect(!page.contains("com.example.app"))
        #expect(!page.contains("withdrawn"))
        let all = try await people.person(account.id)
        #expect(all.contains("com.example.app") && all.contains("withdrawn"))
    }

    @Test func `learns of a deletion at Apple, and neither for which other app it came nor what decided`()
        async throws
    {
        // The sign-in to the other app decides, because it is later than the deletion.
        let account = try await people.signIn(
            to: PeopleUnderTest.other, authorizedAt: 1_600_000, receivedAt: 1_601_000)
        try await people.signIn(authorizedAt: 1_700_000, receivedAt: 1_701_000)
        try await people.store.notify(.sample(.appleAccountDeleted, at: 1_500_000))
        let page = try await people.person(account.id, scope: Self.scope)
        #expect(page.contains("notification: Apple Account deleted"))
        #expect(!page.contains("com.example.app") && !page.contains("decided by"))
        #expect(!page.contains("00:28:20"))
        let all = try await people.person(account.id)
        #expect(all.contains("com.example.app") && all.contains("decided by"))
    }

    @Test func `sees the last sign-in to its own apps, not the one to others`() async throws {
        let account = try await people.signIn(
            to: PeopleUnderTest.other, authorizedAt: 1_000_000, receivedAt: 1_100_000)
        try await people.signIn(authorizedAt: 90_000_000, receivedAt: 90_061_000)
        let all = try await people.person(account.id)
        #expect(all.contains("1970-01-02 01:01:01"))
        let page = try await people.person(account.id, scope: Self.scope)
        #expect(page.contains("1970-01-01 00:18:20") && !page.contains("1970-01-02"))
        let list = try await people.text(.get, "/people", scope: Self.scope)
        #expect(list.contains("1970-01-01 00:18:20") && !list.contains("1970-01-02"))
    }

    @Test(arguments: [
        "/people/{account}/disable", "/people/{account}/enable", "/people/{account}/sign-out",
        "/people/{account}/erase",
    ])
    func `cannot change a person who has another app too`(path: String) async throws {
        let account = try await people.signIn()
        try await people.signIn(to: PeopleUnderTest.other, authorizedAt: 1_500_000)
        let before = try await people.store.account(account.id)
        let answer = try await people.text(
            .post, path, account: account.id, ["reason": "fraud", "confirm": "erase"], scope: Self.scope)
        #expect(answer.hasPrefix("refused"))
        #expect(try await people.store.account(account.id) == before)
    }
}
