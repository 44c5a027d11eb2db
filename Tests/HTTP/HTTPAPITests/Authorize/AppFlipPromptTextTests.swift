import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPEngine
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import HTTPAPI
@testable import OAuth

/// The texts of the app's own sheet, compared with the consent page.
@Suite struct AppFlipPromptTextTests {
    private static func prompt(
        _ language: PageLanguage, isSignedIn: Bool = true, scope: String? = nil,
        _ change: (inout Account) -> Void = { _ in }, configuration: (inout OAuthDraft) -> Void = { _ in }
    ) throws -> JSONValue {
        let settings = try OAuthClients.named(configuration)
        var call = AppFlipRequestBody()
        call.clientID = "google"
        call.redirectURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
        call.state = "s"
        call.scope = scope
        call.userLocale = language.rawValue
        guard case .ask(let link) = AppFlipCheck(settings).link(call, caller: .all) else {
            throw RunningService.NoName()
        }
        var account = Account(
            id: AccountID(UniqueID(high: 1, low: 2)), team: try RunningService.id("A1B2C3D4E5"),
            subject: "001234.a.0123", email: "ada@example.com", isEmailVerified: true,
            isPrivateEmail: false, profile: Profile(firstName: "Ada", lastName: "Lovelace"),
            createdAt: Moment(seconds: 1))
        change(&account)
        var json = JSONWriter()
        json.value(.ask(LinkQuestion(link, settings, account: isSignedIn ? account : nil)))
        let limits = JSONLimits(depth: 8, members: 64)
        return try #require(try JSONValue(parsing: json.bytes, limits: limits)["prompt"])
    }

    /// Texts for the user, without the names of members and scopes and the targets of links.
    private static func texts(_ value: JSONValue) -> [String] {
        if let elements = value.array { return elements.flatMap(texts) }
        guard let object = value.object else { return value.string.map { [$0] } ?? [] }
        let others: Set = ["language", "direction", "scope", "url"]
        return object.members.filter { !others.contains($0.name) }.flatMap { texts($0.value) }
    }

    /// The page as the user reads it, escaped.
    private static func page(
        _ language: PageLanguage, _ change: (inout Account) -> Void = { _ in },
        configuration: (inout OAuthDraft) -> Void = { _ in }
    ) throws -> String {
        let response = try ConsentPageTests.page(
            OAuthClients.google, language, change, configuration: configuration)
        return String(decoding: response.body, as: UTF8.self).replacing(/<[^>]+>/, with: "")
    }

    static let addresses = ["ada@example.com", "q4@privaterelay.appleid.com", nil]

    @Test(arguments: PageLanguage.allCases, addresses)
    func `every text of the sheet is on the consent page`(language: PageLanguage, email: String?) throws {
        func change(_ account: inout Account) {
            account.email = email
            account.isPrivateEmail = email?.contains("privaterelay") ?? false
        }
        func configuration(_ draft: inout OAuthDraft) {
            draft.clients[0].purpose = ["en": "Links <your> \"devices\" & more."]
        }
        let page = try Self.page(language, change, configuration: configuration)
        let texts = Self.texts(try Self.prompt(language, change, configuration: configuration))
        #expect(texts.count >= 14)
        for text in texts {
            #expect(!text.isEmpty && !text.contains("{"))
            #expect(page.contains(text.htmlEscaped), "\(text)")
        }
    }

    @Test func `the sheet says what Google's review wants, and what can be left out`() throws {
        let prompt = try Self.prompt(.english)
        #expect(prompt["title"]?.string == "Link your Example account to Google")
        #expect(prompt["agree"]?.string == "Agree and link")
        #expect(prompt["cancel"]?.string == "Cancel")
        let links = prompt["notes"]?.array?.compactMap { $0["link"]?["url"]?.string }
        #expect(
            links == ["https://policies.google.com/privacy", "https://myaccount.google.com/connections"])
        for note in prompt["notes"]?.array ?? [] {
            if let link = note["link"]?["text"]?.string {
                #expect(note["text"]?.string?.contains(link) == true)
            }
        }
        let optional = prompt["scopes"]?.array?.map { $0["optional"]?.bool }
        #expect(optional == [false, false, true])
        #expect(prompt["optional_scopes_note"]?.string?.isEmpty == false)
        #expect(prompt["account"]?["title"]?.string == "Ada Lovelace")
        #expect(prompt["account"]?["subtitle"]?.string == "ada@example.com")
        #expect(prompt["scopes"]?.array?[1]["detail"]?.string == "ada@example.com")
    }

    @Test func `a user who has not signed in sees no account and no address`() throws {
        let prompt = try Self.prompt(.english, isSignedIn: false)
        #expect(prompt["account"] == nil)
        #expect(prompt["scopes"]?.array?.contains { $0["detail"] != nil } == false)
    }

    @Test func `without the scope of the address the sheet says that the address is not shared`() throws {
        let prompt = try Self.prompt(.english, scope: "openid")
        let first = prompt["notes"]?.array?.first?["text"]?.string
        #expect(first == "Google does not get your email address.")
        #expect(prompt["optional_scopes_note"] == nil)
    }
}
