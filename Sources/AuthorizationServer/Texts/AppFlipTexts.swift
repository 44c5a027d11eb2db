/// The sentences for the user of an app at the end of App Flip, in one language.
public struct AppFlipTexts: TranslatedTexts {
    public static let part = "app_flip"

    let code: String
    let accessDenied: String
    let cancelled: String
    let invalidRequest: String
    let unrecoverable: String

    public static let english = AppFlipTexts(
        code: AppFlipOutcome.code.message.english,
        accessDenied: AppFlipOutcome.accessDenied.message.english,
        cancelled: AppFlipOutcome.cancelled.message.english,
        invalidRequest: AppFlipOutcome.invalidRequest.message.english,
        unrecoverable: AppFlipOutcome.unrecoverable.message.english)

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
