public import AppleAccounts

/// A request of a signed-in operator, as a page sees it.
public struct ConsoleRequest: Sendable {
    public let requestID: String
    /// The decoded values of the names in the path.
    public let parameters: [String: String]
    /// The decoded fields of the query; the first of a name counts.
    public let query: [String: String]
    /// The decoded fields of the form; empty for GET.
    public let form: [String: String]
    public let viewer: ConsoleViewer
    public let now: Moment

    public init(
        requestID: String, parameters: [String: String] = [:], query: [String: String] = [:],
        form: [String: String] = [:], viewer: ConsoleViewer, now: Moment
    ) {
        (self.requestID, self.parameters, self.query, self.form) = (requestID, parameters, query, form)
        (self.viewer, self.now) = (viewer, now)
    }
}

/// The operator who looks.
public struct ConsoleViewer: Sendable {
    /// The name of the API key, or `developer` in `siwa dev`.
    public let name: String
    /// The apps whose people the operator may see.
    public let scope: AppScope
    public let isDevelopment: Bool
    /// The token that each form sends back as the field `csrf`.
    public let formToken: String

    public init(name: String, scope: AppScope, isDevelopment: Bool, formToken: String) {
        (self.name, self.scope) = (name, scope)
        (self.isDevelopment, self.formToken) = (isDevelopment, formToken)
    }
}
