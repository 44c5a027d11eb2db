import AuthorizationServer

/// The texts of the sign-out pages, in one language.
struct LogoutTexts: TranslatedTexts {
    static let part = "logout"

    let title: String
    /// Has the placeholders `{client}` and `{app}`.
    let reason: String
    /// Replaces `reason` for a request without a client. Has the placeholder `{app}`.
    let question: String
    let consequence: String
    let signOut: String
    let stay: String
    let signedOut: Result
    let stayed: Result
    let formRefused: AuthorizeTexts.Refusal

    /// The texts of the last sign-out page.
    struct Result: Sendable, Decodable {
        let title: String
        let advice: String
    }

    static func of(_ language: PageLanguage) -> LogoutTexts {
        switch language {
        case .english: .english
        case .arabic: .arabic
        case .turkish: .turkish
        case .polish: .polish
        case .other(let translation): translation[LogoutTexts.self]
        }
    }
}

extension LogoutTexts {
    static let english = LogoutTexts(
        title: "Sign out?",
        reason: "{client} asks to sign you out of {app} in this browser.",
        question: "You are signed in to {app} in this browser.",
        consequence:
            "Apps and services with access to your account keep it, and other browsers stay signed in.",
        signOut: "Sign out",
        stay: "Stay signed in",
        signedOut: Result(
            title: "You are signed out",
            advice: "You can close this window, or go back to the app or the website you came from."),
        stayed: Result(
            title: "You are still signed in",
            advice: "Nothing has changed. Go back to the app or the website you came from."),
        formRefused: AuthorizeTexts.Refusal(
            title: "This form cannot be used any more",
            reason: "It belongs to another sign-in, or it was changed.",
            advice: "You are still signed in. Start again to sign out."))

    private static let arabic = LogoutTexts(
        title: "هل تريد تسجيل الخروج؟",
        reason: "يطلب {client} تسجيل خروجك من {app} في هذا المتصفّح.",
        question: "أنت مسجّل الدخول إلى {app} في هذا المتصفّح.",
        consequence:
            "تحتفظ التطبيقات والخدمات التي يمكنها الوصول إلى حسابك بهذا الوصول، ويبقى تسجيل دخولك في المتصفّحات الأخرى.",
        signOut: "تسجيل الخروج",
        stay: "البقاء مسجّلًا",
        signedOut: Result(
            title: "تم تسجيل خروجك",
            advice: "يمكنك إغلاق هذه النافذة، أو الرجوع إلى التطبيق أو موقع الويب الذي أتيت منه."),
        stayed: Result(
            title: "ما زلت مسجّل الدخول",
            advice: "لم يتغيّر شيء. ارجع إلى التطبيق أو موقع الويب الذي أتيت منه."),
        formRefused: AuthorizeTexts.Refusal(
            title: "لم يعد بالإمكان استخدام هذا النموذج",
            reason: "النموذج يخصّ تسجيل دخول آخر، أو جرى تغييره.",
            advice: "ما زلت مسجّل الدخول. ابدأ من جديد لتسجيل الخروج."))

    private static let turkish = LogoutTexts(
        title: "Oturum kapatılsın mı?",
        reason: "{client}, bu tarayıcıdaki {app} oturumunuzu kapatmak istiyor.",
        question: "Bu tarayıcıda {app} oturumunuz açık.",
        consequence:
            "Hesabınıza erişimi olan uygulamalar ve hizmetler bu erişimi korur; diğer tarayıcılardaki oturumlarınız açık kalır.",
        signOut: "Oturumu kapat",
        stay: "Oturum açık kalsın",
        signedOut: Result(
            title: "Oturumunuz kapatıldı",
            advice: "Bu pencereyi kapatabilir veya geldiğiniz uygulamaya ya da web sitesine dönebilirsiniz."),
        stayed: Result(
            title: "Oturumunuz hâlâ açık",
            advice: "Hiçbir şey değişmedi. Geldiğiniz uygulamaya veya web sitesine dönün."),
        formRefused: AuthorizeTexts.Refusal(
            title: "Bu form artık kullanılamaz",
            reason: "Form başka bir oturuma ait ya da değiştirilmiş.",
            advice: "Oturumunuz hâlâ açık. Oturumu kapatmak için baştan başlayın."))

    private static let polish = LogoutTexts(
        title: "Wylogować Cię?",
        reason: "{client} prosi o wylogowanie Cię z {app} w tej przeglądarce.",
        question: "W tej przeglądarce trwa Twoja sesja w {app}.",
        consequence:
            "Aplikacje i usługi, które mają dostęp do Twojego konta, zachowają go, a w innych przeglądarkach nic się nie zmieni.",
        signOut: "Wyloguj się",
        stay: "Nie wylogowuj",
        signedOut: Result(
            title: "Wylogowano Cię",
            advice: "Możesz zamknąć to okno albo wrócić do aplikacji lub witryny, z której przychodzisz."),
        stayed: Result(
            title: "Nie wylogowano Cię",
            advice: "Nic się nie zmieniło. Wróć do aplikacji lub witryny, z której przychodzisz."),
        formRefused: AuthorizeTexts.Refusal(
            title: "Tego formularza nie można już użyć",
            reason: "Należy do innego logowania albo został zmieniony.",
            advice: "Nie wylogowano Cię. Zacznij od nowa, aby się wylogować."))
}
