import Encodings

/// The query of the `/oauth/device` page. It is untrusted, because anyone can create a link to the page.
public struct DeviceQuery: Sendable, Hashable {
    /// The user code exactly as entered, even if invalid. `nil` until the user has entered one.
    public let entry: String?
    /// The requested page language. `nil` for the browser's language.
    public let language: PageLanguage?
    /// True if the user wants to sign in with another account first.
    public let asksForAccount: Bool
    /// True if the page's own form sent the query. Browsers then block redirects to other servers
    /// (`form-action` of CSP Level 3).
    public let isEntered: Bool

    init(
        entry: String?, language: PageLanguage?, asksForAccount: Bool = false, isEntered: Bool = false
    ) {
        (self.entry, self.language, self.asksForAccount) = (entry, language, asksForAccount)
        self.isEntered = isEntered
    }

    /// Reads an untrusted query. Unreadable parameters are treated as absent.
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
        // No device ever shows this text, so the code counts as invalid.
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

    /// Maximum size of the entry in bytes.
    private static let longestEntry = 64

    public var code: UserCode? { entry.flatMap { UserCode(entered: $0) } }

    /// The query, with the code in display format. It contains only checked values.
    public var text: String {
        var query = QueryText()
        if let code { query.append("user_code", code.shown) }
        if let language { query.append("ui_locales", language.rawValue) }
        if asksForAccount { query.append("prompt", "select_account") }
        return query.text
    }

    /// This query, with a request to sign in with another account first.
    public var forOtherAccount: DeviceQuery {
        DeviceQuery(entry: entry, language: language, asksForAccount: true)
    }

    /// This query without its code.
    public var withoutCode: DeviceQuery { DeviceQuery(entry: nil, language: language) }
}

/// A request to `/oauth/device_authorization` (RFC 8628 §3.1).
public struct DeviceAuthorizationRequest: ClientFormRequest {
    public let form: ClientForm

    public init(_ form: ClientForm) { self.form = form }

    /// Authenticates the client in the same way as the token endpoint, and then checks the requested scope.
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
