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
    /// How errors at a path are answered, also where it has no route.
    func errorFormat(at path: Substring) -> ErrorFormat {
        guard path.utf8.starts(with: "/oauth/".utf8) else { return .problem }
        if authorize != nil, path.isByteEqual(to: AuthorizeUseCase.path) { return .page }
        return oauth != nil ? .oauth : .problem
    }
}
