import AppleAccounts
import AuthorizationServer
import Testing

@Suite struct ScopeSetTests {
    @Test(arguments: [
        "openid", "openid email", "https://www.example.com/auth/drive.readonly",
        "a!#$%&'()*+,-./:;<=>?@[]^_`{|}~",
    ])
    func `reads scopes that are separated by single spaces`(text: String) {
        #expect(ScopeSet(parsing: text)?.text == text)
    }

    @Test(arguments: [
        "", " ", " openid", "openid ", "openid  email", "openid\temail", "openid\nemail", "\"", "a\\b",
        "\u{E9}",
        "open\u{0}id", "\u{7F}", String(repeating: "s", count: 129),
    ])
    func `refuses everything else`(text: String) {
        #expect(ScopeSet(parsing: text) == nil)
    }

    @Test func `has a bound on scopes and on bytes`() {
        let most = (1...64).map { "s\($0)" }.joined(separator: " ")
        #expect(ScopeSet(parsing: most)?.tokens.count == 64)
        #expect(ScopeSet(parsing: most + " s65") == nil)
        let long = (1...17).map { String(repeating: "s", count: 120) + "\($0)" }.joined(separator: " ")
        #expect(long.utf8.count > ScopeSet.longest)
        #expect(ScopeSet(parsing: long) == nil)
    }

    @Test func `keeps the order, and each scope once`() throws {
        let set = try #require(ScopeSet(parsing: "email openid email profile openid"))
        #expect(set.text == "email openid profile")
        let other = try #require(ScopeSet(parsing: "devices profile openid"))
        #expect(set.intersection(other).text == "openid profile")
        #expect(set.union(other).text == "email openid profile devices")
        #expect(set.intersection(other).isSubset(of: set) && !set.isSubset(of: other))
        #expect(ScopeSet([]).isEmpty && ScopeSet([]).isSubset(of: set))
    }

    @Test func `scopes are case-sensitive`() throws {
        let set = try #require(ScopeSet(parsing: "Email email"))
        #expect(set.tokens.count == 2)
        #expect(!set.contains(try #require(ScopeToken("EMAIL"))))
    }

    @Test func `a declared scope has its texts, and can replace a built-in one`() throws {
        let settings = try OAuthSettings.sample(
            .sample {
                $0.scopes.append(ScopeDraft(name: "email", isOptional: true))
                $0.scopes.append(ScopeDraft(name: "profile", text: ["en": "Read your name"]))
            })
        let email = try #require(settings.scopes[.email])
        #expect(email.isOptional && email.text[.turkish] == "E-posta adresinizi görme")
        #expect(settings.scopes[.profile]?.text[.polish] == "Read your name")
        #expect(settings.scopes[.openID]?.isOptional == false)
        let asked = try #require(ScopeSet(parsing: "devices email lights"))
        #expect(settings.scopes.declarations(of: asked).map(\.token.rawValue) == ["devices", "email"])
    }
}
