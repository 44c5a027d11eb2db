public import StrictJSON

/// The `outcome` of an App Flip call: a code, or the error for Google.
public enum AppFlipOutcome: String, Sendable, Hashable, CaseIterable {
    case code
    /// The user denied access. Google stops linking.
    case accessDenied = "access_denied"
    /// Linking failed in the app. Google continues in the browser.
    case cancelled
    /// The request is faulty. Google continues in the browser.
    case invalidRequest = "invalid_request"
    /// This account can never be linked. Google stops linking.
    case unrecoverable
}

/// The response to the app's backend, including the URL that the app must open unchanged.
public struct AppFlipResponse: Sendable, Hashable {
    public let redirectTo: String
    public let outcome: AppFlipOutcome
    /// A sentence for the user, in their language.
    public let message: String
    /// The fault in the request, for the developer.
    public let detail: String?
    /// The code for an Android app, which opens no URL.
    public let code: String?

    init(
        redirectTo: String, outcome: AppFlipOutcome, message: String, detail: String? = nil,
        code: String? = nil
    ) {
        self.redirectTo = redirectTo
        self.outcome = outcome
        self.message = message
        self.detail = detail
        self.code = code
    }

    init(refusing outcome: AppFlipOutcome, by response: AuthorizationResponse, language: PageLanguage) {
        self.init(
            outcome, outcome.message.english, message: outcome.message(in: language), by: response)
    }

    init(refusing obstacle: AppFlipObstacle, by response: AuthorizationResponse, language: PageLanguage) {
        self.init(
            obstacle.outcome, obstacle.englishMessage, message: obstacle.message(in: language), by: response)
    }

    /// Creates the response to a faulty request.
    init(refusing error: OAuthError, by response: AuthorizationResponse, language: PageLanguage) {
        let outcome = AppFlipOutcome.invalidRequest
        self.init(
            outcome, outcome.message.english, message: outcome.message(in: language),
            detail: error.explanation, by: response)
    }

    /// Creates the response. Its description is the English sentence for users, because Google shows it to
    /// them.
    private init(
        _ outcome: AppFlipOutcome, _ english: String, message: String, detail: String? = nil,
        by response: AuthorizationResponse
    ) {
        self.init(
            redirectTo: response.location(error: OAuthError(outcome.errorCode, english)), outcome: outcome,
            message: message, detail: detail)
    }
}

extension AppFlipResponse: JSONBody {
    public static var schemaName: String { "AppFlipResponse" }
    public static var schemaText: String {
        "The URL that leads back to Google, and what the app can tell the user."
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("redirect_to", "Open this URL unchanged.") { $0.redirectTo }
        member(
            "outcome",
            .words(
                AppFlipOutcome.allCases.map(\.rawValue),
                "`code` when Google gets an authorization code; otherwise the cause.")
        ) { $0.outcome.rawValue }
        member(
            "message",
            "A sentence for the user. In English it is also the `error_description` of `redirect_to`."
        ) { $0.message }
        member("detail", "With `invalid_request`: the fault of the request, for the developer.") { $0.detail }
        member(
            "code", "The authorization code, for an Android app: only with a redirect URI of the project."
        ) { $0.code }
    }

    public func write(into json: inout JSONWriter) { json.object(self) }
}

extension AppFlipOutcome {
    fileprivate var errorCode: OAuthError.Code {
        switch self {
        case .accessDenied: .accessDenied
        case .cancelled: .cancelled
        case .unrecoverable: .unrecoverable
        case .invalidRequest, .code: .invalidRequest
        }
    }
}
