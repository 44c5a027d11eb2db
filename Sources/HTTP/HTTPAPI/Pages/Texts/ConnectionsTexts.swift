import AuthorizationServer

/// The texts of the connections page, in one language.
struct ConnectionsTexts: TranslatedTexts {
    static let part = "connections"

    let title: String
    /// Introduces the client list. Has the placeholder `{app}`.
    let intro: String
    let none: String
    /// Has the placeholder `{day}`.
    let since: String
    /// Shown after `since`. Has the placeholder `{day}`.
    let lastUsed: String
    /// Replaces `lastUsed` for a grant that has not been used.
    let neverUsed: String
    let remove: String
    let removed: String
    let consequence: String
    let formRefused: AuthorizeTexts.Refusal
    let chooseApp: String
    let chooseAppAdvice: String
    /// Text of the link on the consent page.
    let link: String
    /// Text of a link to a client's document.
    let policy: String
    let terms: String

    static func of(_ language: PageLanguage) -> ConnectionsTexts {
        switch language {
        case .english: .english
        case .arabic: .arabic
        case .turkish: .turkish
        case .polish: .polish
        case .other(let translation): translation[ConnectionsTexts.self]
        }
    }
}

extension ConnectionsTexts {
    static let english = ConnectionsTexts(
        title: "Apps and services with access to your account",
        intro: "You have given these apps and services access to your {app} account.",
        none: "No app or service has access to your account.",
        since: "Access since {day}",
        lastUsed: "last used {day}",
        neverUsed: "not used yet",
        remove: "Remove access",
        removed: "The access was removed.",
        consequence:
            "Removing ends the access at once. The app or service keeps what it has received before. You can give it access again.",
        formRefused: AuthorizeTexts.Refusal(
            title: "This form cannot be used any more",
            reason: "It belongs to another sign-in, or it was changed.",
            advice: "Nothing was removed. Start again to see what has access to your account."),
        chooseApp: "Which account do you want to see?",
        chooseAppAdvice: "Choose the app that you sign in to with your Apple Account.",
        link: "See what has access to your account",
        policy: "Privacy policy",
        terms: "Terms of service")

    private static let arabic = ConnectionsTexts(
        title: "التطبيقات والخدمات التي يمكنها الوصول إلى حسابك",
        intro: "لقد منحت هذه التطبيقات والخدمات إمكانية الوصول إلى حسابك في {app}.",
        none: "لا يوجد تطبيق أو خدمة يمكنها الوصول إلى حسابك.",
        since: "الوصول منذ {day}",
        lastUsed: "آخر استخدام {day}",
        neverUsed: "لم يُستخدم بعد",
        remove: "إزالة الوصول",
        removed: "تمت إزالة الوصول.",
        consequence:
            "تُنهي الإزالة الوصول فورًا. ويحتفظ التطبيق أو الخدمة بما تلقّاه من قبل. يمكنك منحه الوصول مرة أخرى.",
        formRefused: AuthorizeTexts.Refusal(
            title: "لم يعد بالإمكان استخدام هذا النموذج",
            reason: "النموذج يخصّ تسجيل دخول آخر، أو جرى تغييره.",
            advice: "لم تتم إزالة أي شيء. ابدأ من جديد لعرض ما يمكنه الوصول إلى حسابك."),
        chooseApp: "أيّ حساب تريد عرضه؟",
        chooseAppAdvice: "اختر التطبيق الذي تسجّل الدخول إليه باستخدام حساب Apple.",
        link: "عرض ما يمكنه الوصول إلى حسابك",
        policy: "سياسة الخصوصية",
        terms: "شروط الخدمة")

    private static let turkish = ConnectionsTexts(
        title: "Hesabınıza erişimi olan uygulamalar ve hizmetler",
        intro: "Bu uygulamalara ve hizmetlere {app} hesabınıza erişim izni verdiniz.",
        none: "Hesabınıza erişimi olan bir uygulama veya hizmet yok.",
        since: "Erişim başlangıcı: {day}",
        lastUsed: "son kullanım: {day}",
        neverUsed: "henüz kullanılmadı",
        remove: "Erişimi kaldır",
        removed: "Erişim kaldırıldı.",
        consequence:
            "Kaldırdığınızda erişim hemen sona erer. Uygulama veya hizmet daha önce aldıklarını saklar. Ona yeniden erişim verebilirsiniz.",
        formRefused: AuthorizeTexts.Refusal(
            title: "Bu form artık kullanılamaz",
            reason: "Form başka bir oturuma ait ya da değiştirilmiş.",
            advice: "Hiçbir şey kaldırılmadı. Hesabınıza nelerin erişebildiğini görmek için baştan başlayın."),
        chooseApp: "Hangi hesabı görmek istiyorsunuz?",
        chooseAppAdvice: "Apple Hesabınızla oturum açtığınız uygulamayı seçin.",
        link: "Hesabınıza nelerin erişebildiğini görün",
        policy: "Gizlilik politikası",
        terms: "Hizmet şartları")

    private static let polish = ConnectionsTexts(
        title: "Aplikacje i usługi z dostępem do Twojego konta",
        intro: "Te aplikacje i usługi mają za Twoją zgodą dostęp do Twojego konta {app}.",
        none: "Żadna aplikacja ani usługa nie ma dostępu do Twojego konta.",
        since: "Dostęp od {day}",
        lastUsed: "ostatnie użycie {day}",
        neverUsed: "jeszcze nieużywany",
        remove: "Usuń dostęp",
        removed: "Dostęp został usunięty.",
        consequence:
            "Usunięcie natychmiast kończy dostęp. Aplikacja lub usługa zachowuje to, co otrzymała wcześniej. Dostępu można udzielić ponownie.",
        formRefused: AuthorizeTexts.Refusal(
            title: "Tego formularza nie można już użyć",
            reason: "Należy do innego logowania albo został zmieniony.",
            advice: "Niczego nie usunięto. Zacznij od nowa, aby zobaczyć, co ma dostęp do Twojego konta."),
        chooseApp: "Które konto chcesz zobaczyć?",
        chooseAppAdvice: "Wybierz aplikację, do której logujesz się, używając konta Apple.",
        link: "Zobacz, co ma dostęp do Twojego konta",
        policy: "Polityka prywatności",
        terms: "Warunki korzystania")
}
