/// The sentences that an app shows at the end of App Flip, in one language.
public struct AppFlipTexts: TranslatedTexts {
    public static let part = "app_flip"

    let code: String
    let accessDenied: String
    let cancelled: String
    let invalidRequest: String
    let unrecoverable: String
    let accountDisabled: String

    public static let english = AppFlipTexts(
        code: AppFlipOutcome.code.message.english,
        accessDenied: AppFlipOutcome.accessDenied.message.english,
        cancelled: AppFlipOutcome.cancelled.message.english,
        invalidRequest: AppFlipOutcome.invalidRequest.message.english,
        unrecoverable: AppFlipOutcome.unrecoverable.message.english,
        accountDisabled: AppFlipObstacle.disabledMessage.english)

    func text(of outcome: AppFlipOutcome) -> String {
        switch outcome {
        case .code: code
        case .accessDenied: accessDenied
        case .cancelled: cancelled
        case .invalidRequest: invalidRequest
        case .unrecoverable: unrecoverable
        }
    }
}

extension AppFlipOutcome {
    /// Returns the sentence for the user.
    func message(in language: PageLanguage) -> String {
        switch language {
        case .english, .arabic, .turkish, .polish: message[language]
        case .other(let translation): translation[AppFlipTexts.self].text(of: self)
        }
    }
}

extension AppFlipObstacle {
    /// Returns the sentence for the user: the outcome's sentence, unless the account is disabled.
    func message(in language: PageLanguage) -> String {
        guard self == .accountDisabled else { return outcome.message(in: language) }
        switch language {
        case .english, .arabic, .turkish, .polish: return Self.disabledMessage[language]
        case .other(let translation): return translation[AppFlipTexts.self].accountDisabled
        }
    }
}

extension AppFlipOutcome {
    /// The sentence that the app shows the user. In English it is printable ASCII, because it also serves as
    /// the `error_description` that Google shows.
    var message: LocalizedText {
        switch self {
        case .code:
            LocalizedText(
                english: "Your account is being linked with Google.",
                [
                    .arabic: "جارٍ ربط حسابك بـ Google.",
                    .turkish: "Hesabınız Google’a bağlanıyor.",
                    .polish: "Trwa łączenie Twojego konta z Google.",
                ])
        case .accessDenied:
            LocalizedText(
                english: "You chose not to link your account with Google.",
                [
                    .arabic: "لقد اخترت عدم ربط حسابك بـ Google.",
                    .turkish: "Hesabınızı Google’a bağlamamayı seçtiniz.",
                    .polish: "Zgodnie z Twoją decyzją konto nie zostanie połączone z Google.",
                ])
        case .cancelled:
            LocalizedText(
                english: "Linking could not be finished in the app. It continues in the browser.",
                [
                    .arabic: "تعذّر إكمال الربط في التطبيق. ستتم المتابعة في المتصفّح.",
                    .turkish: "Bağlama işlemi uygulamada tamamlanamadı. Tarayıcıda devam edecek.",
                    .polish:
                        "Nie udało się dokończyć łączenia w aplikacji. Będzie kontynuowane w przeglądarce.",
                ])
        case .invalidRequest:
            LocalizedText(
                english: "The app cannot answer this request. Linking continues in the browser.",
                [
                    .arabic: "لا يستطيع التطبيق الرد على هذا الطلب. ستتم متابعة الربط في المتصفّح.",
                    .turkish: "Uygulama bu isteği yanıtlayamıyor. Bağlama işlemi tarayıcıda devam edecek.",
                    .polish:
                        "Aplikacja nie może odpowiedzieć na to żądanie. Łączenie będzie kontynuowane "
                        + "w przeglądarce.",
                ])
        case .unrecoverable:
            LocalizedText(
                english: "This account can no longer be linked with Google.",
                [
                    .arabic: "لم يعد بالإمكان ربط هذا الحساب بـ Google.",
                    .turkish: "Bu hesap artık Google’a bağlanamaz.",
                    .polish: "Tego konta nie można już połączyć z Google.",
                ])
        }
    }
}

extension AppFlipObstacle {
    /// The outcome's sentence would be wrong here, because the account can be linked again once the operator
    /// has enabled it.
    static let disabledMessage = LocalizedText(
        english: "The makers of the app have disabled this account. It cannot be linked with Google now.",
        [
            .arabic: "عطّل صانعو التطبيق هذا الحساب. لا يمكن ربطه بـ Google الآن.",
            .turkish:
                "Uygulamayı geliştirenler bu hesabı devre dışı bıraktı. Şu anda Google’a bağlanamaz.",
            .polish: "Twórcy aplikacji zablokowali to konto. Nie można go teraz połączyć z Google.",
        ])

    /// The sentence for the user, in English.
    var englishMessage: String {
        self == .accountDisabled ? Self.disabledMessage.english : outcome.message.english
    }
}
