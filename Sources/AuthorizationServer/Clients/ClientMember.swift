/// One member of an entry of `oauth.clients`: its name in the file, its value, and the kinds of clients for
/// which it has a meaning. The reader of the file, the refusal of members of other kinds, `siwa client new`
/// and the page on the configuration follow from the list. Rules about a value, or about two members, are in
/// `OAuthCheck`.
public struct ClientMember: Sendable {
    public typealias Path<Value> = any WritableKeyPath<ClientDraft, Value> & Sendable

    /// The form of the value, and its place in a draft.
    public enum Value: Sendable {
        case text(Path<String>)
        case optionalText(Path<String?>)
        /// One of a few words.
        case word(Path<String>)
        case optionalWord(Path<String?>)
        /// Texts by language.
        case texts(Path<[String: String]>)
        case list(Path<[String]>)
        case flag(Path<Bool?>)
        case seconds(Path<Int64?>)
        case number(Path<Int64?>)
    }

    public let name: String
    public let kinds: Set<ClientKind.Name>
    public let value: Value

    private init(_ name: String, of kinds: Set<ClientKind.Name>, _ value: Value) {
        (self.name, self.kinds, self.value) = (name, kinds, value)
    }

    private static let everyKind = Set(ClientKind.Name.allCases)

    public static let all = [
        ClientMember("id", of: everyKind, .text(\.id)),
        ClientMember("kind", of: everyKind, .word(\.kind)),
        ClientMember("app", of: everyKind, .text(\.app)),
        ClientMember("name", of: everyKind, .texts(\.name)),
        ClientMember("purpose", of: everyKind, .texts(\.purpose)),
        ClientMember("first_party", of: [.web, .native], .flag(\.isFirstParty)),
        ClientMember("secret_hashes", of: everyKind, .list(\.secretHashes)),
        ClientMember("scopes", of: everyKind, .list(\.scopes)),
        ClientMember("redirect_uris", of: everyKind, .list(\.redirectURIs)),
        ClientMember("audience", of: everyKind, .optionalText(\.audience)),
        ClientMember("access_token_algorithm", of: everyKind, .optionalWord(\.accessTokenAlgorithm)),
        ClientMember("id_token_algorithm", of: everyKind, .optionalWord(\.idTokenAlgorithm)),
        ClientMember("max_authentication_age", of: everyKind, .seconds(\.maxAuthenticationAge)),
        ClientMember("code_lifetime", of: everyKind, .seconds(\.codeLifetime)),
        ClientMember("access_token_lifetime", of: everyKind, .seconds(\.accessTokenLifetime)),
        ClientMember("refresh_token_idle_lifetime", of: everyKind, .seconds(\.refreshTokenIdleLifetime)),
        ClientMember("refresh_token_lifetime", of: everyKind, .seconds(\.refreshTokenLifetime)),
        ClientMember("refresh_token_limit", of: everyKind, .number(\.refreshTokenLimit)),
        ClientMember("platform", of: [.native], .optionalWord(\.platform)),
        ClientMember("allow_plain_pkce", of: [.native], .flag(\.allowsPlainPKCE)),
        ClientMember("allow_localhost", of: [.native], .flag(\.allowsLocalhost)),
        // A public client has no other way to bind a code to itself. Google sends no challenge.
        ClientMember("require_pkce", of: [.web], .flag(\.requiresPKCE)),
        ClientMember("project_id", of: [.googleLinking], .optionalText(\.projectID)),
        ClientMember("google_client_ids", of: [.googleLinking], .list(\.googleClientIDs)),
        ClientMember("app_flip", of: [.googleLinking], .flag(\.appFlip)),
        ClientMember("app_flip_bundle_ids", of: [.googleLinking], .list(\.appFlipBundleIDs)),
        ClientMember("app_flip_link_paths", of: [.googleLinking], .list(\.appFlipLinkPaths)),
        ClientMember("app_flip_test_redirect_uris", of: [.googleLinking], .list(\.appFlipTestRedirectURIs)),
    ]

    public static func named(_ name: String) -> ClientMember? { all.first { $0.name == name } }

    /// Returns `true` if a draft has a value for this member.
    func isSet(in draft: ClientDraft) -> Bool {
        switch value {
        case .text(let path), .word(let path): !draft[keyPath: path].isEmpty
        case .optionalText(let path), .optionalWord(let path): draft[keyPath: path] != nil
        case .texts(let path): !draft[keyPath: path].isEmpty
        case .list(let path): !draft[keyPath: path].isEmpty
        case .flag(let path): draft[keyPath: path] != nil
        case .seconds(let path), .number(let path): draft[keyPath: path] != nil
        }
    }
}
