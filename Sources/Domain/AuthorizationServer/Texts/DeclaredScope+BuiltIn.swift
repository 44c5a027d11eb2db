extension DeclaredScope {
    /// Returns the declaration of a scope of `ScopeToken.builtIn`. Such a scope is not optional, unless the
    /// configuration makes it optional.
    static func builtIn(_ token: ScopeToken) -> DeclaredScope {
        DeclaredScope(token: token, text: texts[token] ?? LocalizedText(english: ""), isOptional: false)
    }

    /// Returns the declaration with its texts in all languages of a deployment.
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
