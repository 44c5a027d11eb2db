import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

@Suite struct PageLanguageTests {
    @Test(
        arguments: [
            ("client_id=shop&ui_locales=de%20ar", .arabic), ("ui_locales=tr&user_locale=pl-PL", .polish),
            ("", .english), ("ui_locales=ar&ui_locales=tr", .english), ("ui_locales=%zz", .english),
            (String(repeating: "a=b&", count: 100) + "ui_locales=ar", .english),
        ] as [(String, PageLanguage)])
    func `a query that was not accepted still says its language`(query: String, language: PageLanguage) {
        #expect(RequestedLanguages(query: query).language(among: .builtIn, acceptLanguage: nil) == language)
    }

    @Test(
        arguments: [
            ("en", .english), ("en-GB", .english), ("AR", .arabic), ("ar-EG-u-nu-latn", .arabic),
            ("tr_TR", .turkish),
            ("pl", .polish), ("de", nil), ("", nil), ("e", nil), ("english", nil), ("-en", nil),
            ("\u{E9}n", nil),
            ("pln", nil), ("arc", nil),
        ] as [(String, PageLanguage?)])
    func `is found by the first part of a tag`(tag: String, language: PageLanguage?) {
        #expect(PageLanguages.builtIn.language(tag: tag) == language)
    }

    @Test(
        arguments: [
            ("pl", .polish), ("de, pl;q=0.5", .polish), ("tr;q=0.5, pl;q=0.8", .polish), ("tr, pl", .turkish),
            ("pl;q=0", nil), ("*", nil), ("", nil), ("pl;q=1.001", .polish), ("pl;q=2", nil),
            ("pl;q=0.0001", nil),
            ("pl ; q=0.3 , ar ;q=0.4", .arabic), ("en-US,en;q=0.9,tr;q=0.8", .english), ("pl;level=1", nil),
            ("pl;q=", nil), ("pl;q=.5", nil), (",,;", nil), ("pl;Q=0.1", .polish), ("tr;q=0.001", .turkish),
        ] as [(String, PageLanguage?)])
    func `is the most wanted one of Accept-Language`(field: String, language: PageLanguage?) {
        #expect(PageLanguages.builtIn.language(acceptLanguage: field) == language)
    }

    @Test func `looks at a bounded part of Accept-Language`() {
        let many = String(repeating: "de,", count: 10_000) + "pl"
        #expect(PageLanguages.builtIn.language(acceptLanguage: many) == nil)
    }

    @Test func `a page is in English when no wanted language is there`() {
        #expect(
            RequestedLanguages(tags: ["de", "fr"]).language(among: .builtIn, acceptLanguage: nil) == .english)
        #expect(
            RequestedLanguages(tags: ["de", "pl"]).language(among: .builtIn, acceptLanguage: "tr") == .polish)
        #expect(RequestedLanguages().language(among: .builtIn, acceptLanguage: "tr") == .turkish)
    }

    @Test(arguments: PageLanguage.allCases.filter { $0 != .english })
    func `every built-in text is there in every language`(language: PageLanguage) {
        for token in ScopeToken.builtIn {
            let text = DeclaredScope.builtIn(token).text
            #expect(!text.english.isEmpty)
            #expect(text[language] != text.english)
        }
        for outcome in AppFlipOutcome.allCases {
            #expect(outcome.message[language] != outcome.message.english)
        }
    }

    @Test(arguments: AppFlipOutcome.allCases)
    func `the English message is an error_description`(outcome: AppFlipOutcome) {
        #expect(isDescription(outcome.message.english))
    }

    @Test func `Arabic is written from right to left`() {
        #expect(PageLanguage.allCases.filter { $0.direction == "rtl" } == [.arabic])
    }
}
