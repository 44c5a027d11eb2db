import Encodings

/// The query of the page `/oauth/device`. Any party can make a link to it.
public struct DeviceQuery: Sendable, Hashable {
    /// The user code as entered, even if it is invalid; `nil` before the user has entered a code.
    public let entry: String?
    /// The requested language of the page; `nil` for the language of the browser.
    public let language: PageLanguage?
    /// True if the user wants to sign in with another account first.
    public let asksForAccount: Bool
    /// True if the query comes from the form of the page. Browsers block a redirect to another server in
    /// response to such a form (`form-action` of CSP Level 3).
    public let isEntered: Bool

    init(
        entry: String?, language: PageLanguage?, asksForAccount: Bool = false, isEntered: Bool = false
    ) {
        (self.entry, self.language, self.asksForAccount) = (entry, language, asksForAccount)
        self.isEntered = isEntered
    }

    /// Reads an untrusted query. Parameters that cannot be read count as absent.
    ///
    /// - Parameter languages: The languages of the pages.
    public init(_ query: String, among languages: PageLanguages) {
        guard let parameters = try? FormParameters(parsing: query.utf8, as: .query) else {
            self.init(entry: nil, language: nil)
            return
        }
        var entry: String?
        switch parameters.value(of: "user_code", upTo: Self.longestEntry) {
        case .text(let text): entry = text
        case .absent: break
        // An invalid code, which no device shows.
        case .malformed, .repeated: entry = "?"
        }
        var asksForAccount = false
        if case .text("select_account") = parameters["prompt"] { asksForAccount = true }
        self.init(
            entry: entry,
            language: RequestedLanguages(query: query).tags.lazy.compactMap { languages.language(tag: $0) }
                .first,
            asksForAccount: asksForAccount, isEntered: parameters["entered"] != .absent)
    }

    /// Largest size in bytes.
    private static let longestEntry = 64

    public var code: UserCode? { entry.flatMap { UserCode(entered: $0) } }

    /// The query with the code as devices show it. It has only values that this type has checked.
    public var text: String {
        var query = QueryText()
        if let code { query.append("user_code", code.shown) }
        if let language { query.append("ui_locales", language.rawValue) }
        if asksForAccount { query.append("prompt", "select_account") }
        return query.text
    }

    /// The same query, which first requests another account at Apple.
    public var forOtherAccount: DeviceQuery {
        DeviceQuery(entry: entry, language: language, asksForAccount: true)
    }

    /// The same query without a code.
    public var withoutCode: DeviceQuery { DeviceQuery(entry: nil, language: language) }
}

/// A request to `/oauth/device_authorization` (RFC 8628 §3.1).
public struct DeviceAuthorizationRequest: ClientFormRequest {
    public let form: ClientForm

    public init(_ form: ClientForm) { self.form = form }

    /// Checks the client as the token endpoint does, and then the requested scope.
    public func authenticated(
        in clients: ClientRegistry
    ) throws(TokenEndpointError) -> (client: OAuthClient, scope: ScopeSet) {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        do throws(OAuthError) {
            guard client.mayUse(.deviceCode) else {
                throw OAuthError(
                    .unauthorizedClient,
                    "The device authorization endpoint is only for \(GrantType.deviceCode.clients).")
            }
            try ResourceCheck(audience: client.audience).check(form.reader.parameters)
            let scope = try TokenParameters(reader: form.reader, client: client).scope()
            return (client, scope.map(client.completed) ?? client.scopes)
        } catch {
            throw TokenEndpointError(error)
        }
    }
}
