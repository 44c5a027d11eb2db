import OAuth

/// The routes of OAuth, by what they are for.
final class OAuthRoutes: Sendable {
    let tokens: OAuthTokenRoutes
    let documents: OAuthDocumentRoutes
    let grants: OAuthGrantRoutes

    init(server: OAuthServer, callers: CallerDirectory, registry: MetricsRegistry) {
        let metrics = OAuthMetrics(registry, commits: server.parts.commits)
        tokens = OAuthTokenRoutes(server: server, callers: callers, metrics: metrics)
        documents = OAuthDocumentRoutes(server: server)
        grants = OAuthGrantRoutes(server: server, metrics: metrics)
    }
}

extension Routes {
    /// Whether a path is answered by the rules of OAuth, also where it has no route.
    func answersAsOAuth(_ path: Substring) -> Bool {
        oauth != nil && path.utf8.starts(with: "/oauth/".utf8)
    }
}
