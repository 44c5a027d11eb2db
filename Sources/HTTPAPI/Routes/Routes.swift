/// All routes, by family.
///
/// The families are classes, so that a request costs one reference and no copy of everything that they depend
/// on.
struct Routes: Sendable {
    let tokens: TokenRoutes
    let accounts: AccountRoutes
    let credentials: CredentialRoutes
    let events: EventRoutes
    let notifications: NotificationRoutes
    let erasures: ErasureRoutes
    /// `nil` where the web flow is not configured.
    let web: WebRoutes?
    /// `nil` where no OAuth client is configured.
    let authorize: AuthorizeRoutes?
    let operations: OperationsRoutes
    /// `nil` where no OAuth client is configured.
    let oauth: OAuthRoutes?

    /// Whether this deployment has the route.
    func serves(_ route: Route) -> Bool {
        if web == nil, route.belongsToWebRelay { return false }
        if oauth == nil, route.belongsToOAuth { return false }
        if authorize == nil, route.belongsToAuthorization { return false }
        return true
    }

    func handle(_ route: Route, _ request: HTTPRequest) throws -> RouteResult {
        switch route {
        case .verifyIdentityToken: try tokens.verify(request)
        case .signIn: try tokens.signIn(request)
        case .mintNonce: try tokens.mintNonce(request)
        case .account: try accounts.byID(request)
        case .findAccount: try accounts.bySubject(request)
        case .credential: try credentials.one(request)
        case .queryCredentials: try credentials.many(request)
        case .events: try events.page(request)
        case .appleNotification: try notifications.receive(request)
        case .eraseAccount: try erasures.erase(request)
        case .erasure: try erasures.report(request)
        case .webSignIn, .webCallback, .webFinish, .webResult: try handleWeb(route, request)
        case .oauthToken, .oauthRevoke, .explainRevocation, .oauthIntrospect, .userInfo, .postUserInfo,
            .keySet, .serverMetadata, .openIDMetadata, .riscConfiguration, .appSiteAssociation, .appFlip,
            .grants, .endGrant, .googleEvents:
            try handleOAuth(route, request)
        case .authorize, .answerConsent: try handleAuthorization(route, request)
        case .livez: operations.live()
        case .readyz: operations.ready()
        case .health: operations.health()
        case .version: operations.versionResponse()
        case .metrics: try operations.metrics(request)
        case .openAPI: operations.openAPI()
        }
    }

    private func handleOAuth(_ route: Route, _ request: HTTPRequest) throws -> RouteResult {
        guard let oauth else { throw Problem(.notFound) }
        return switch route {
        case .oauthToken: try oauth.tokens.issue(request)
        case .oauthRevoke: try oauth.tokens.revoke(request)
        case .explainRevocation: try oauth.tokens.explainRevocation()
        case .oauthIntrospect: try oauth.tokens.introspect(request)
        case .userInfo, .postUserInfo: try oauth.tokens.userInfo(request)
        case .keySet: oauth.documents.keySet()
        case .serverMetadata, .openIDMetadata: oauth.documents.metadata()
        case .riscConfiguration: oauth.documents.riscConfiguration()
        case .appSiteAssociation: try oauth.documents.appSiteAssociation()
        case .appFlip: try oauth.grants.appFlip(request)
        case .grants: try oauth.grants.list(request)
        case .endGrant: try oauth.grants.end(request)
        default: try oauth.grants.receiveEvent(request)
        }
    }

    private func handleAuthorization(_ route: Route, _ request: HTTPRequest) throws -> RouteResult {
        guard let authorize else { throw Problem(.notFound) }
        return route == .authorize ? authorize.begin(request) : authorize.answer(request)
    }

    private func handleWeb(_ route: Route, _ request: HTTPRequest) throws -> RouteResult {
        guard let web else { throw Problem(.notFound) }
        return switch route {
        case .webSignIn: try web.begin(request)
        case .webCallback: web.callback(request)
        case .webFinish: web.finish(request)
        default: try web.redeem(request)
        }
    }
}
