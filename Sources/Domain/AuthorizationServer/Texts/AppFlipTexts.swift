/// The sentences for the user of an app at the end of App Flip, in one language.
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
    /// Returns the sentence for the user: that of the outcome, except for a disabled account.
    func message(in language: PageLanguage) -> String {
        guard self == .accountDisabled else { return outcome.message(in: language) }
        switch language {
        case .english, .arabic, .turkish, .polish: return Self.disabledMessage[language]
        case .other(let translation): return translation[AppFlipTexts.self].accountDisabled
        }
    }
}
