/// A scope that clients can have, with its text on the consent page.
public struct DeclaredScope: Sendable, Hashable {
    public let token: ScopeToken
    /// Text for the consent page that names the access in plain words. It is an item of a list: "See your
    /// name".
    public let text: LocalizedText
    /// True if the user can refuse this scope and grant the others.
    public let isOptional: Bool

    public init(token: ScopeToken, text: LocalizedText, isOptional: Bool) {
        self.token = token
        self.text = text
        self.isOptional = isOptional
    }
}

/// All scopes of a deployment: the built-in scopes, and the scopes of the configuration.
public struct ScopeCatalog: Sendable {
    /// The built-in scopes first, then the others in the order of the configuration.
    public let scopes: [DeclaredScope]
    private let indexByToken: [ScopeToken: Int]

    /// - Parameters:
    ///   - declared: Scopes of the configuration. A scope with the name of a built-in scope replaces it.
    ///   - languages: The languages of the texts of built-in scopes.
    public init(declared: [DeclaredScope] = [], languages: PageLanguages = .builtIn) {
        var scopes = ScopeToken.builtIn.map { DeclaredScope.builtIn($0, in: languages) }
        var index: [ScopeToken: Int] = [:]
        for (position, scope) in scopes.enumerated() { index[scope.token] = position }
        for scope in declared {
            if let position = index[scope.token] {
                scopes[position] = scope
            } else {
                index[scope.token] = scopes.count
                scopes.append(scope)
            }
        }
        self.scopes = scopes
        indexByToken = index
    }

    public subscript(token: ScopeToken) -> DeclaredScope? { indexByToken[token].map { scopes[$0] } }

    /// Returns the declarations of these scopes, in their order. A scope without a declaration is left out.
    public func declarations(of set: ScopeSet) -> [DeclaredScope] { set.tokens.compactMap { self[$0] } }
}
