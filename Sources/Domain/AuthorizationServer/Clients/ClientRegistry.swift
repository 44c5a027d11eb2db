public import AppleAccounts

/// All clients of the service, by their IDs.
public struct ClientRegistry: Sendable {
    /// Clients in the order of the configuration.
    public let clients: [OAuthClient]
    private let indexByID: [OAuthClientID: Int]
    private let appFlipURIs: [RegisteredRedirectURI]
    /// Redirect URIs that Google names in the intent for an Android app.
    private let intentURIs: [RegisteredRedirectURI]

    /// - Parameter clients: Clients with distinct IDs.
    init(_ clients: [OAuthClient]) {
        self.clients = clients
        var index: [OAuthClientID: Int] = [:]
        for (position, client) in clients.enumerated() { index[client.id] = position }
        indexByID = index
        var known: Set<RegisteredRedirectURI> = []
        appFlipURIs = clients.flatMap(\.redirectURIs).filter {
            $0.form == .appFlip && known.insert($0).inserted
        }
        intentURIs = clients.filter { $0.hasAppFlip && $0.androidApp != nil }.flatMap(\.redirectURIs)
            .filter { $0.form == .googleProject }
    }

    public subscript(id: OAuthClientID) -> OAuthClient? { indexByID[id].map { clients[$0] } }

    public subscript(id: String) -> OAuthClient? { OAuthClientID(id).flatMap { self[$0] } }

    /// True if one of the clients has App Flip.
    public var hasAppFlip: Bool { !appFlipURIs.isEmpty }

    /// Returns the target of a redirect to a URI of App Flip that any client has, or `nil`.
    ///
    /// The URIs belong to Google, so an error may be sent there even if the client is unknown.
    public func appFlipTarget(for uri: String) -> RedirectTarget? {
        for registered in appFlipURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }

    /// Returns the target for a URI that Google names in the intent for an Android app, or `nil`. Nothing is
    /// opened there: the app gives the result to Google's app. The code is bound to the URI.
    func intentTarget(for uri: String) -> RedirectTarget? {
        intentURIs.lazy.compactMap { $0.target(for: uri) }.first
    }
}
