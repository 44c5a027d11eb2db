import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

/// Texts of a page, as a module declares them.
private struct SampleTexts: TranslatedTexts {
    static let part = "sample"
    static let english = SampleTexts(
        title: "Hello {user}", redirectURIMismatch: Refusal(title: "Wrong", reason: "Because"), goOn: "Go on")

    let title: String
    let redirectURIMismatch: Refusal
    let goOn: String

    struct Refusal: Sendable, Decodable {
        let title: String
        let reason: String
    }
}

/// The texts of languages that a deployment adds.
@Suite struct TranslationTests {
    private static let parts: [any TranslatedTexts.Type] = [
        SampleTexts.self, ScopeTexts.self, AppFlipTexts.self,
    ]

    /// A complete file, in which each text has a mark in front.
    static func draft(
        _ tag: String = "fr", mark: String = "FR ", _ change: (inout [String: String]) -> Void = { _ in }
    ) -> TranslationDraft {
        let texts = TranslationDraft.texts(of: parts).map { ($0.path, mark + $0.text) }
        var draft = TranslationDraft(
            file: "\(tag).yaml", tag: tag, texts: Dictionary(uniqueKeysWithValues: texts))
        change(&draft.texts)
        return draft
    }

    static func languages(_ drafts: [TranslationDraft]) throws -> PageLanguages {
        let (languages, mistakes) = PageLanguages.check(drafts, parts: parts)
        try #require(mistakes == [], "\(mistakes.map(\.text))")
        return languages
    }

    @Test func `names of texts follow from the declaration`() {
        #expect(
            TranslationDraft.texts(of: [SampleTexts.self]).map(\.path) == [
                "sample.title", "sample.redirect_uri_mismatch.title", "sample.redirect_uri_mismatch.reason",
                "sample.go_on",
            ])
        #expect(TextName.inFile("uri") == "uri" && TextName.inFile("anURL") == "an_url")
        #expect(TextName.inFile("URLOfPage") == "url_of_page")
    }

    @Test func `a complete file makes a language, with its texts, its scopes and its sentences`() throws {
        let languages = try Self.languages([Self.draft()])
        #expect(languages.all.map(\.rawValue) == ["en", "ar", "tr", "pl", "fr"])
        let french = try #require(languages.language(tag: "fr-CA"))
        guard case .other(let translation) = french else {
            Issue.record("is built in")
            return
        }
        let texts = translation[SampleTexts.self]
        #expect(texts.title == "FR Hello {user}" && texts.goOn == "FR Go on")
        #expect(texts.redirectURIMismatch.reason == "FR Because")
        let catalog = ScopeCatalog(languages: languages)
        #expect(catalog[.email]?.text[french] == "FR See your email address")
        #expect(catalog[.email]?.text[.polish] == DeclaredScope.builtIn(.email).text[.polish])
        for outcome in AppFlipOutcome.allCases {
            #expect(outcome.message(in: french) == "FR " + outcome.message.english)
            #expect(outcome.message(in: .turkish) == outcome.message[.turkish])
        }
        for scope in ScopeToken.builtIn { #expect(catalog[scope]?.text[french].hasPrefix("FR ") == true) }
    }

    @Test(arguments: [
        ("fr", "ltr"), ("he", "rtl"), ("fa-IR", "rtl"), ("az-Arab", "rtl"), ("ks-Deva", "ltr"),
        ("ur-Latn", "ltr"),
        ("pt-BR", "ltr"), ("zh-Hant-TW", "ltr"), ("es-419", "ltr"), ("ckb", "rtl"),
    ])
    func `the direction follows from the tag`(tag: String, direction: String) throws {
        #expect(try Self.languages([Self.draft(tag)]).all.last?.direction == direction)
    }

    @Test func `the longest tag that fits is chosen, whatever its letter case`() throws {
        let languages = try Self.languages([
            Self.draft("pt"), Self.draft("pt-BR"), Self.draft("zh-Hant"), Self.draft("fil"),
        ])
        for (tag, expected) in [
            ("pt", "pt"), ("PT_br", "pt-BR"), ("pt-PT", "pt"), ("pt-BR-x-a", "pt-BR"), ("pt-BRA", "pt"),
            ("zh-hant-tw", "zh-Hant"), ("zh", nil), ("zh-Hans", nil), ("fil-PH", "fil"), ("fi", nil),
            ("", nil),
            ("-", nil), (String(repeating: "pt-", count: 100), "pt"), ("ar-EG", "ar"), ("english", nil),
        ] as [(String, String?)] { #expect(languages.language(tag: tag)?.rawValue == expected, "\(tag)") }
        #expect(languages.language(acceptLanguage: "de, pt-br;q=0.9, en;q=0.8")?.rawValue == "pt-BR")
        let requested = RequestedLanguages(query: "ui_locales=de%20zh-Hant-HK%20en")
        #expect(requested.language(among: languages, acceptLanguage: "pl").rawValue == "zh-Hant")
        #expect(requested.language(among: .builtIn, acceptLanguage: "pl") == .english)
    }

    @Test(
        arguments: [
            (.translationIncomplete, "sample.go_on", draft { $0["sample.go_on"] = nil }),
            (.translationUnknown, "sample.go_onn", draft { $0["sample.go_onn"] = "x" }),
            (.translationUnknown, "device.title", draft { $0["device.title"] = "x" }),
            (.translationPlaces, "lacks {user}", draft { $0["sample.title"] = "Bonjour" }),
            (.translationPlaces, "has {usr}", draft { $0["sample.title"] = "Bonjour {usr}" }),
            (.translationPlaces, "has {a b}", draft { $0["sample.go_on"] = "Oui {a b}" }),
            (.textMalformed, "sample.go_on", draft { $0["sample.go_on"] = "" }),
            (.textMalformed, "sample.go_on", draft { $0["sample.go_on"] = "a\nb" }),
            (
                .textMalformed, "sample.go_on",
                draft { $0["sample.go_on"] = String(repeating: "é", count: 1001) }
            ),
            (.languageTagMalformed, "french.yaml", draft("french")),
            (.languageTagMalformed, "FR.yaml", draft("FR")),
            (.languageTagMalformed, "pt_BR.yaml", draft("pt_BR")),
            (.languageTagMalformed, "zh-hant.yaml", draft("zh-hant")),
            (.languageBuiltIn, "tr.yaml", draft("tr")),
        ] as [(OAuthMistake.Code, String, TranslationDraft)])
    func `a mistake in a file names the file and the text`(
        code: OAuthMistake.Code, words: String, draft: TranslationDraft
    ) {
        let (languages, mistakes) = PageLanguages.check([Self.draft("he"), draft], parts: Self.parts)
        #expect(mistakes.map(\.code) == [code])
        #expect(mistakes[0].setting == "oauth.texts_directory")
        #expect(
            mistakes[0].text.contains(words) && mistakes[0].text.contains(draft.file), "\(mistakes[0].text)")
        // The texts of the configuration may name a language whose file has a mistake.
        let isLanguage = ![.languageTagMalformed, .languageBuiltIn].contains(code)
        #expect(languages.named(draft.tag) != nil || !isLanguage)
        #expect(languages.named("he") != nil)
    }

    @Test func `all missing texts are in one mistake, and the number of languages has a bound`() {
        let empty = TranslationDraft(file: "fr.yaml", tag: "fr", texts: [:])
        let text = PageLanguages.check([empty], parts: Self.parts).mistakes.map(\.text).joined()
        for (path, _) in TranslationDraft.texts(of: Self.parts) { #expect(text.contains(path), "\(path)") }
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let many = letters.prefix(11).flatMap { first in ["x", "y", "z"].map { Self.draft("\(first)\($0)") } }
        #expect(many.count == PageLanguages.mostTranslations + 1)
        let (_, mistakes) = PageLanguages.check(many, parts: Self.parts)
        #expect(mistakes.map(\.code) == [.languagesTooMany])
        #expect(PageLanguages.check(Array(many.dropLast()), parts: Self.parts).mistakes == [])
    }

    @Test func `texts of the configuration may have the languages of the directory, and no others`() throws {
        let languages = try Self.languages([Self.draft()])
        let draft = OAuthDraft.sample {
            $0.clients[0].name = ["en": "Shop", "fr": "Boutique"]
            $0.scopes = [ScopeDraft(name: "devices", text: ["en": "See them", "fr": "Les voir"])]
        }
        guard case .usable(let settings) = OAuthSettings.check(draft, in: try .sample(languages: languages))
        else {
            Issue.record("refused")
            return
        }
        let french = try #require(languages.language(tag: "fr"))
        #expect(settings.clients["shop"]?.name[french] == "Boutique")
        #expect(settings.clients["shop"]?.name[.polish] == "Shop")
        #expect(settings.scopes[try #require(ScopeToken("devices"))]?.text[french] == "Les voir")
        #expect(settings.languages.all.count == 5)
        guard case .refused(let mistakes) = OAuthSettings.check(draft, in: try .sample()) else {
            Issue.record("accepted")
            return
        }
        #expect(Set(mistakes.map(\.code)) == [.languageUnknown])
    }
}

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
