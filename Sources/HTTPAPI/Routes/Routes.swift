/// All calls, by family.
///
/// The families are classes, so that a call costs one reference and not a copy of everything that they stand on.
struct Routes: Sendable {
    let tokens: TokenRoutes
    let accounts: AccountRoutes
    let credentials: CredentialRoutes
    let events: EventRoutes
    let notifications: NotificationRoutes
    let erasures: ErasureRoutes
    /// `nil` where the web relay is not configured.
    let web: WebRoutes?
    let operations: OperationsRoutes

    /// Throws `not_found` for a call that this deployment does not have.
    func require(_ route: Route) throws(Problem) {
        if web == nil, route.belongsToWebRelay { throw Problem(.notFound) }
    }

    func handle(_ route: Route, _ call: Call) throws -> RouteResult {
        switch route {
        case .verifyIdentityToken: try tokens.verify(call)
        case .signIn: try tokens.signIn(call)
        case .mintNonce: try tokens.mintNonce(call)
        case .account: try accounts.byID(call)
        case .findAccount: try accounts.bySubject(call)
        case .credential: try credentials.one(call)
        case .queryCredentials: try credentials.many(call)
        case .events: try events.page(call)
        case .appleNotification: try notifications.receive(call)
        case .eraseAccount: try erasures.erase(call)
        case .erasure: try erasures.report(call)
        case .webSignIn, .webCallback, .webFinish, .webResult: try handleWeb(route, call)
        case .livez: operations.live()
        case .readyz: operations.ready()
        case .health: operations.health()
        case .version: operations.versionAnswer()
        case .metrics: try operations.metrics(call)
        case .openAPI: operations.openAPI()
        }
    }

    private func handleWeb(_ route: Route, _ call: Call) throws -> RouteResult {
        guard let web else { throw Problem(.notFound) }
        return switch route {
        case .webSignIn: try web.begin(call)
        case .webCallback: web.callback(call)
        case .webFinish: web.finish(call)
        default: try web.redeem(call)
        }
    }
}
