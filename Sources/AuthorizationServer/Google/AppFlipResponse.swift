import StrictJSON

/// The `outcome` of an App Flip call: a code, or the error that Google receives.
public enum AppFlipOutcome: String, Sendable, Hashable, CaseIterable {
    case code
    /// The user refused. Google ends linking.
    case accessDenied = "access_denied"
    /// Linking failed in the app. Google continues in the browser.
    case cancelled
    /// The request has a fault. Google continues in the browser.
    case invalidRequest = "invalid_request"
    /// This account can never be linked. Google ends linking.
    case unrecoverable
}

/// The response to the app's backend: the URL that the app opens unchanged.
public struct AppFlipResponse: Sendable, Hashable {
    public let redirectTo: String
    public let outcome: AppFlipOutcome
    /// A sentence for the user, in the user's language.
    public let message: String
    /// The code, for an app on Android, which opens no URL.
    public let code: String?

    init(redirectTo: String, outcome: AppFlipOutcome, language: PageLanguage, code: String? = nil) {
        self.redirectTo = redirectTo
        self.code = code
        self.outcome = outcome
        message = outcome.message(in: language)
    }

    /// Uses the English sentence for users as the description, because Google shows the description to users.
    init(refusing outcome: AppFlipOutcome, by response: AuthorizationResponse, language: PageLanguage) {
        let error = OAuthError(outcome.errorCode, outcome.message.english)
        self.init(redirectTo: response.location(error: error), outcome: outcome, language: language)
    }

    /// For a request with a fault. The description names the fault.
    init(refusing error: OAuthError, by response: AuthorizationResponse, language: PageLanguage) {
        self.init(redirectTo: response.location(error: error), outcome: .invalidRequest, language: language)
    }

    /// The body of the response.
    public var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 768)
        json.beginObject()
        json.member("redirect_to", redirectTo)
        json.member("outcome", outcome.rawValue)
        json.member("message", message)
        json.member("code", ifPresent: code)
        json.endObject()
        return json.bytes
    }
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
