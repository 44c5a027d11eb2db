import StrictJSON

/// The `outcome` of an App Flip call: a code, or the error that Google is told.
public enum AppFlipOutcome: String, Sendable, Hashable, CaseIterable {
    case code
    /// The person does not want it. Google ends linking.
    case accessDenied = "access_denied"
    /// It did not work in the app. Google goes on in the browser.
    case cancelled
    /// Something is wrong with the request. Google goes on in the browser.
    case invalidRequest = "invalid_request"
    /// This account can never be linked. Google ends linking.
    case unrecoverable
}

/// What the app's backend is told: the URL that the app opens as it is.
public struct AppFlipResponse: Sendable, Hashable {
    public let redirectTo: String
    public let outcome: AppFlipOutcome
    /// A sentence for the person, in their language.
    public let message: String

    init(redirectTo: String, outcome: AppFlipOutcome, language: PageLanguage) {
        self.redirectTo = redirectTo
        self.outcome = outcome
        message = outcome.message[language]
    }

    /// Google shows the description to people, so it is the sentence for them, in English.
    init(refusing outcome: AppFlipOutcome, by response: AuthorizationResponse, language: PageLanguage) {
        let error = OAuthError(outcome.errorCode, outcome.message.english)
        self.init(redirectTo: response.location(error: error), outcome: outcome, language: language)
    }

    /// The request itself is wrong, and the description says how.
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
