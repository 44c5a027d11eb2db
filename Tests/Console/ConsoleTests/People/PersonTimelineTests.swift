import AppleAccounts
import Encodings
import Pages
import SignIn
import StorageConformance
import Testing

@testable import Console

@Suite struct PersonTimelineTests {
    let people: PeopleUnderTest

    init() throws {
        people = try PeopleUnderTest()
    }

    private func timeline(_ id: AccountID, hasHistory: Bool = true) async throws -> PersonTimeline {
        let account = try #require(try await people.store.account(id))
        let key = SubjectKey(team: account.team, subject: account.subject)
        return PersonTimeline(
            events: try await people.store.lastEvents(of: id, limit: 100, visibleTo: .all),
            history: try await people.store.history(of: id, limit: hasHistory ? 100 : 0)
                .compactMap { SeenHistoryEntry($0, in: .all) },
            payloads: try await people.store.payloads(
                about: key, for: [PeopleUnderTest.app, PeopleUnderTest.other], limit: 100),
            account: account, isShown: true)
    }

    /// A notification's payload with the event as Apple sends it: JSON in a text.
    private static func payload(_ type: String) -> String {
        let event =
            #"{\"type\":\"\#(type)\",\"sub\":\"s\",\"event_time\":1795675976613,\"email\":\"secret@hidden.example\"}"#
        let claims = #"{"iss":"https://appleid.apple.com","jti":"jti-1","events":"\#(event)"}"#
        return "e30.\(Base64URL.encode(Array(claims.utf8))).signature"
    }

    @Test func `says of a late withdrawal by how much it is late, and draws both moments`() async throws {
        let account = try await people.signIn(authorizedAt: 1_040_000)
        try await people.store.notify(
            .sample(at: 1_000_000, payload: Self.payload("consent-revoked")))
        // The sign-in was recorded after it.
        let item = try #require(try await timeline(account.id).items.last)
        #expect(item.title == "Apple's notification: consent withdrawn")
        let sentence = "Came too late: the authorization is later by 40 s. Changed nothing."
        #expect(item.effect == sentence)
        #expect(item.comparison?.revokedAt == 1_000_000 && item.comparison?.authorizedAt == 1_040_000)
        #expect(item.events == [])
        #expect(item.moment == 1_000_000 && item.recordedAt == 1_017_000)
        let page = try await people.person(account.id)
        #expect(page.contains(sentence))
        #expect(page.contains("<svg class=\"plot") && page.contains("1970-01-01 00:16:40"))
        #expect(page.contains("The backend got no event of this"))
        #expect(page.contains("17 s later"))
    }

    @Test func `gives a withdrawal the event that the backend got, and what came`() async throws {
        let account = try await people.signIn()
        try await people.store.notify(
            .sample(at: 2_000_000, payload: Self.payload("consent-revoked")))
        let items = try await timeline(account.id).items
        #expect(items.map(\.title) == ["Apple's notification: consent withdrawn", "First sign-in"])
        #expect(items[0].events.map(\.kind) == [.credentialRevoked])
        #expect(items[0].comparison == nil)
        #expect(items[0].facts.map(\.name).contains("events.type"))
        let time = items[0].facts.first { $0.name == "events.event_time" }
        #expect(time?.value == .code("1795675976613 (2026-11-26 06:52:56.613)"))
        #expect(items[1].events.map(\.kind) == [.accountCreated, .credentialAuthorized])
        let page = try await people.person(account.id)
        #expect(page.contains("event 3") && page.contains("jti-1"))
        #expect(!page.contains("secret@hidden.example") && page.contains("s…@h…"))
        #expect(!page.contains("signature"))
    }

    @Test func `an event and what came are one row, also without an entry of the history`() async throws {
        let account = try await people.signIn()
        try await people.store.notify(
            .sample(at: 2_000_000, payload: Self.payload("consent-revoked")))
        let items = try await timeline(account.id, hasHistory: false).items
        #expect(items.map(\.title) == ["Credential revoked", "First sign-in"])
        #expect(items[0].facts.map(\.name).contains("events.type"))
    }

    @Test(arguments: NotificationForm.allCases)
    func `masks the address in every form of Apple's events until it is shown`(
        form: NotificationForm
    ) async throws {
        let account = try await people.signIn()
        try await people.store.notify(.sample(at: 2_000_000, payload: try form.token()))
        let page = try await people.person(account.id)
        #expect(!page.contains("relay7") && !page.contains(NotificationForm.address))
        #expect(page.contains("<dt>events.email</dt><dd><code>\(NotificationForm.masked)</code>"))
        #expect(page.contains("<dt>events.type</dt><dd><code>email-disabled</code>"))
        #expect(page.contains("<dt>events.is_private_email</dt><dd><code>true</code>"))
        #expect(people.audit.entries == [])
        let shown = try await people.text(.post, "/people/{account}/show", account: account.id)
        #expect(shown.contains("<dt>events.email</dt><dd><code>\(NotificationForm.address)</code>"))
        #expect(people.audit.entries.count == 1)
    }

    @Test func `shows what came before the account was known`() async throws {
        try await people.store.notify(.sample(at: 500_000))
        let account = try await people.signIn()
        let items = try await timeline(account.id).items
        #expect(items.map(\.title) == ["First sign-in", "Apple's notification: consent-revoked"])
        #expect(items[1].effect.contains("before the account was known"))
    }

    @Test func `shows no moment of Apple's for a check, whose moment is ours`() async throws {
        let account = try await people.store.hold(1, authorizedAt: 1_000_000)
        let day: Int64 = 86_400_000
        let held = try await people.person(account.id)
        #expect(
            held.contains("<dt>Next check at Apple</dt>") && held.contains("<dt>Last check at Apple</dt>"))
        try await people.store.reject(.sample(account: account, at: Moment(milliseconds: 3 * day)))
        let item = try #require(try await timeline(account.id).items.first)
        #expect(item.title == "Check: Apple refused the refresh token")
        #expect(item.moment == nil && item.recordedAt == Moment(milliseconds: 3 * day))
        #expect(item.effect.contains("from the moment on at which Apple was asked"))
        let page = try await people.person(account.id)
        #expect(!page.contains("Since, by Apple") && !page.contains("check at Apple</dt>"))
    }

    @Test func `gives a disabling that holds its reason and its end`() async throws {
        let account = try await people.signIn()
        try await people.store.change(DisableCommand.sample(account, at: 2_000_000))
        let item = try #require(try await timeline(account.id).items.first)
        let disabling = try #require(try await people.store.account(account.id)?.disabling)
        #expect(item.title == "Disabled")
        #expect(item.facts.first { $0.name == "reason" }?.value == .code(disabling.reason.rawValue))
        #expect(item.facts.contains { $0.name == "end" })
    }

    @Test(arguments: [
        (0, nil, "none yet"), (200, nil, "from 1970-01-"),
        (200, Moment(milliseconds: 90_000_000), "due since 1970-01-02 01:00"),
    ])
    func `concludes the last check from the next, unless it failed`(
        hoursLater: Int64, uncheckedSince: Moment?, words: String
    ) {
        let app = PeopleUnderTest.app
        let came = Moment(milliseconds: 1_000_000)
        let entry = SeenHistoryEntry(
            HistoryEntry(
                accountID: AccountID(UniqueID(high: 1, low: 2)), kind: .exchange, clientID: app,
                outcome: .tokenKept, moment: came, recordedAt: came), in: .all)
        let next = came.advanced(byMilliseconds: 86_400_000 + 1_800_000 + hoursLater * 3_600_000)
        let times = CheckTimes(
            next: [app: PlannedCheck(next: next, uncheckedSince: uncheckedSince)], schedule: CheckSchedule(),
            history: [entry].compactMap { $0 })
        #expect(times.facts(of: app).first?.value.string.hasPrefix(words) == true)
        #expect(times.facts(of: PeopleUnderTest.other).isEmpty)
    }

    @Test func `shows sign-ins of other days, exchanges, checks and changes in their order`() async throws {
        let account = try await people.store.hold(1, authorizedAt: 1_000_000)
        let day: Int64 = 86_400_000
        for number in 1...2 as ClosedRange<Int64> {
            for second in 0...1 as ClosedRange<Int64> {
                try await people.store.signIn(
                    .sample(authorizedAt: Moment(milliseconds: number * day + second * 1000)))
            }
        }
        try await people.store.reject(.sample(account: account, at: Moment(milliseconds: 3 * day)))
        try await people.store.change(DisableCommand.sample(account, at: Moment(milliseconds: 4 * day)))
        #expect(
            try await timeline(account.id).items.map(\.title) == [
                "Disabled", "Check: Apple refused the refresh token", "Last sign-in", "Sign-in", "Sign-in",
                "Exchange of the authorization code", "First sign-in",
            ])
    }

    @Test(arguments: [
        (0, "0 s"), (400, "0.4 s"), (40_000, "40 s"), (-40_000, "40 s"), (90_000, "1 min 30 s"),
        (7_200_000, "2 h"), (90_060_000, "1 d 1 h"), (59_999, "59 s"),
    ])
    func `writes durations in words`(milliseconds: Int, text: String) {
        #expect(ShownDuration(milliseconds: Int64(milliseconds)).description == text)
    }
}
