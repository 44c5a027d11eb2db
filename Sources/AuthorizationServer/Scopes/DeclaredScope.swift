/// A scope that clients can be given, with what the consent page says about it.
public struct DeclaredScope: Sendable, Hashable {
    public let token: ScopeToken
    /// What the client may do, in plain words. It is an item of a list: "See your name".
    public let text: LocalizedText
    /// Whether the person can refuse this scope and grant the others.
    public let isOptional: Bool

    public init(token: ScopeToken, text: LocalizedText, isOptional: Bool) {
        self.token = token
        self.text = text
        self.isOptional = isOptional
    }
}

/// All scopes of a deployment: the built-in ones, and those of the configuration.
public struct ScopeCatalog: Sendable {
    /// The built-in ones first, then in the order of the configuration.
    public let scopes: [DeclaredScope]
    private let indexByToken: [ScopeToken: Int]

    /// - Parameter declared: One with the name of a built-in scope replaces it.
    public init(declared: [DeclaredScope] = []) {
        var scopes = ScopeToken.builtIn.map(DeclaredScope.builtIn)
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

    /// The declarations of these scopes, in their order. A scope without one is left out.
    public func declarations(of set: ScopeSet) -> [DeclaredScope] { set.tokens.compactMap { self[$0] } }
}
