/// A scope that clients can request, and its text for the consent page.
public struct DeclaredScope: Sendable, Hashable {
    public let token: ScopeToken
    /// Describes the access in plain words on the consent page, as a list item such as "See your name".
    public let text: LocalizedText
    /// True if the user may refuse this scope while granting the others.
    public let isOptional: Bool
}

/// All of a deployment's scopes, both built-in and configured.
public struct ScopeCatalog: Sendable {
    /// All scopes: first the built-in scopes, then the other scopes in configuration order.
    public let scopes: [DeclaredScope]
    private let indexByToken: [ScopeToken: Int]

    /// - Parameters:
    ///   - declared: Configured scopes. Each replaces the built-in scope with the same name, if any.
    ///   - languages: The languages for the texts of built-in scopes.
    public init(declared: [DeclaredScope] = [], languages: PageLanguages = .builtIn) {
        var scopes = ScopeToken.builtIn.map { DeclaredScope.builtIn($0, in: languages) }
        var index: [ScopeToken: Int] = [:]
        for (position, scope) in scopes.enumerated() { index[scope.token] = position }
        for scope in declared {
            if let position = index[scope.token] {
                scopes[position] = scope
            } else {
                index[scope.token] = scopes.count
                scopes.append(scope)
            }
        }
        self.scopes = scopes
        indexByToken = index
    }

    public subscript(token: ScopeToken) -> DeclaredScope? { indexByToken[token].map { scopes[$0] } }

    /// Returns the declarations of these scopes, in the set's order. Scopes without a declaration are
    /// omitted.
    public func declarations(of set: ScopeSet) -> [DeclaredScope] { set.tokens.compactMap { self[$0] } }
}

extension DeclaredScope {
    /// Returns the declaration of a scope from `ScopeToken.builtIn`. Only the configuration can make it
    /// optional.
    static func builtIn(_ token: ScopeToken) -> DeclaredScope {
        DeclaredScope(token: token, text: texts[token] ?? LocalizedText(english: ""), isOptional: false)
    }

    /// Returns the declaration with texts in all of the deployment's languages.
    static func builtIn(_ token: ScopeToken, in languages: PageLanguages) -> DeclaredScope {
        let text = languages.all.reduce(builtIn(token).text) { text, language in
            guard case .other(let translation) = language,
                let translated = translation[ScopeTexts.self].text(of: token)
            else { return text }
            return text.adding(translated, in: language)
        }
        return DeclaredScope(token: token, text: text, isOptional: false)
    }

    private static let texts: [ScopeToken: LocalizedText] = [
        .openID: LocalizedText(
            english: "Recognize you when you come back",
            [
                .arabic: "التعرّف عليك عند عودتك",
                .turkish: "Geri döndüğünüzde sizi tanıma",
                .polish: "Rozpoznawanie Cię, gdy wrócisz",
            ]),
        .profile: LocalizedText(
            english: "See your name",
            [
                .arabic: "الاطّلاع على اسمك",
                .turkish: "Adınızı görme",
                .polish: "Wyświetlanie Twojego imienia i nazwiska",
            ]),
        .email: LocalizedText(
            english: "See your email address",
            [
                .arabic: "الاطّلاع على عنوان بريدك الإلكتروني",
                .turkish: "E-posta adresinizi görme",
                .polish: "Wyświetlanie Twojego adresu e-mail",
            ]),
        .offlineAccess: LocalizedText(
            english: "Keep this access while you are not using it",
            [
                .arabic: "الاحتفاظ بهذا الوصول حتى عندما لا تستخدمه",
                .turkish: "Siz kullanmıyorken de bu erişimi sürdürme",
                .polish: "Zachowanie tego dostępu także wtedy, gdy z niego nie korzystasz",
            ]),
    ]
}

/// The texts of the built-in scopes in one language.
public struct ScopeTexts: TranslatedTexts {
    public static let part = "scopes"

    let openid: String
    let profile: String
    let email: String
    let offlineAccess: String

    public static let english = ScopeTexts(
        openid: DeclaredScope.builtIn(.openID).text.english,
        profile: DeclaredScope.builtIn(.profile).text.english,
        email: DeclaredScope.builtIn(.email).text.english,
        offlineAccess: DeclaredScope.builtIn(.offlineAccess).text.english)

    /// Returns the text. Returns `nil` if the scope is not built in.
    func text(of token: ScopeToken) -> String? {
        let texts: [ScopeToken: String] = [
            .openID: openid, .profile: profile, .email: email, .offlineAccess: offlineAccess,
        ]
        return texts[token]
    }
}
