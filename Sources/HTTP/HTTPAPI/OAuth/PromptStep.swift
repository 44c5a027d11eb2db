import AuthorizationServer
import OAuth

extension AppFlipOutcome: CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_app_flips_total", label: "outcome",
        help: "App Flip calls with a URL to open by client and outcome.")
}

/// Prompts of App Flip, as a metric counts them. A prompt gives no code, but the texts of the sheet.
enum PromptStep: CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_app_flip_prompts_total", label: "outcome",
        help: "Prompts of App Flip by client and outcome.")

    static let allCases: [PromptStep] =
        [.prompt] + AppFlipOutcome.allCases.filter { $0 != .code }.map { .refused($0) }

    case prompt
    case refused(AppFlipOutcome)

    init(_ prompt: AppFlipPrompt) {
        self =
            switch prompt {
            case .ask: .prompt
            case .refused(let response, _): .refused(response.outcome)
            }
    }

    init?(rawValue: String) {
        guard let step = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = step
    }

    var rawValue: String {
        switch self {
        case .prompt: "prompt"
        case .refused(let outcome): outcome.rawValue
        }
    }
}
