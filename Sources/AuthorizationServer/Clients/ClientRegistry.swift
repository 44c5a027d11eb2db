public import AppleAccounts

/// All clients of the service, by their IDs.
public struct ClientRegistry: Sendable {
    /// In the order of the configuration.
    public let clients: [OAuthClient]
    private let indexByID: [OAuthClientID: Int]
    private let appFlipURIs: [RegisteredRedirectURI]

    /// - Parameter clients: No two have the same ID.
    init(_ clients: [OAuthClient]) {
        self.clients = clients
        var index: [OAuthClientID: Int] = [:]
        for (position, client) in clients.enumerated() { index[client.id] = position }
        indexByID = index
        var known: Set<RegisteredRedirectURI> = []
        appFlipURIs = clients.flatMap(\.redirectURIs).filter {
            $0.form == .appFlip && known.insert($0).inserted
        }
    }

    public subscript(id: OAuthClientID) -> OAuthClient? { indexByID[id].map { clients[$0] } }

    public subscript(id: String) -> OAuthClient? { OAuthClientID(id).flatMap { self[$0] } }

    /// Whether one of the clients has App Flip.
    public var hasAppFlip: Bool { !appFlipURIs.isEmpty }

    /// The target of a redirect to a URI of App Flip that any client has, or `nil`.
    ///
    /// These belong to Google, so an error may be sent there also when the client is unknown.
    public func appFlipTarget(for uri: String) -> RedirectTarget? {
        for registered in appFlipURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }
}
