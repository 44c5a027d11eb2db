import AuthorizationServer
import EventDelivery
import HTTPEngine
import SignIn

// All calls of the interface. A call that is not in `all` is not served; a test compares the list with
// `openapi.yaml`, the page on the interface and the samples for proxies.
extension Endpoint {
    // Accounts, for backends.

    static let verifyIdentityToken = Endpoint(
        "verifyIdentityToken", .post, "/v1/identity-tokens/verify", of: \.tokens, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary, wait: .keys
    ) { try $0.verify($1) }

    static let signIn = Endpoint(
        "signIn", .post, "/v1/sign-ins", of: \.tokens, caller: .apiKey, body: .json, errors: .problem,
        priority: .ordinary, wait: .keys
    ) { try $0.signIn($1) }

    static let getCredential = Endpoint(
        "getCredential", .get, "/v1/credentials/{sub}", of: \.credentials, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary
    ) { try $0.one($1) }

    static let queryCredentials = Endpoint(
        "queryCredentials", .post, "/v1/credentials/query", of: \.credentials, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary
    ) { try $0.many($1) }

    /// Needs no body.
    static let mintNonce = Endpoint(
        "mintNonce", .post, "/v1/nonces", of: \.tokens, caller: .apiKey, body: .none, errors: .problem,
        priority: .ordinary
    ) { try $0.mintNonce($1) }

    static let mintChallenge = Endpoint(
        "mintChallenge", .post, "/v1/app-attest/challenges", of: \.appAttest, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary
    ) { try $0.mintChallenge($1) }

    static let registerKey = Endpoint(
        "registerKey", .post, "/v1/app-attest/keys", of: \.appAttest, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary
    ) { try $0.registerKey($1) }

    /// The key ID is in base64url, because base64 has slashes.
    static let getAttestedKey = Endpoint(
        "getAttestedKey", .get, "/v1/app-attest/keys/{key_id}", of: \.appAttest, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary
    ) { try $0.showKey($1) }

    static let listEvents = Endpoint(
        "listEvents", .get, "/v1/events", of: \.events, caller: .apiKey, body: .none, errors: .problem,
        priority: .ordinary, wait: .longPoll(SignInUseCases.longestWait)
    ) { try $0.page($1) }

    static let pollEvents = Endpoint(
        "pollEvents", .post, "/v1/event-receivers/{name}/poll", of: \.eventPolls, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary, wait: .longPoll(EventPolling.longestWait)
    ) { try $0.poll($1) }

    static let getAccount = Endpoint(
        "getAccount", .get, "/v1/accounts/{id}", of: \.accounts, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary
    ) { try $0.byID($1) }

    static let findAccount = Endpoint(
        "findAccount", .get, "/v1/accounts", of: \.accounts, caller: .apiKey, body: .none, errors: .problem,
        priority: .ordinary
    ) { try $0.find($1) }

    static let listAccountEvents = Endpoint(
        "listAccountEvents", .get, "/v1/accounts/{id}/events", of: \.accounts, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary
    ) { try $0.events($1) }

    static let eraseAccount = Endpoint(
        "eraseAccount", .delete, "/v1/accounts/{id}", of: \.erasures, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary, wait: .atMost(SignInUseCases.longestErasureWait)
    ) { try $0.erase($1) }

    static let disableAccount = Endpoint(
        "disableAccount", .post, "/v1/accounts/{id}/disable", of: \.accountChanges, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary
    ) { try $0.disable($1) }

    /// Needs no body.
    static let enableAccount = Endpoint(
        "enableAccount", .post, "/v1/accounts/{id}/enable", of: \.accountChanges, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary
    ) { try $0.enable($1) }

    static let signOutAccount = Endpoint(
        "signOutAccount", .post, "/v1/accounts/{id}/sign-out", of: \.accountChanges, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary
    ) { try $0.signOut($1) }

    static let getErasure = Endpoint(
        "getErasure", .get, "/v1/erasures/{id}", of: \.erasures, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary
    ) { try $0.report($1) }

    static let getAppCheck = Endpoint(
        "getAppCheck", .get, "/v1/apps/{client_id}/app-check", of: \.appCheck, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary
    ) { try $0.show($1) }

    // Apple.

    static let receiveAppleNotification = Endpoint(
        "receiveAppleNotification", .post, "/v1/apple/notifications", of: \.notifications, caller: .anyone,
        body: .json, errors: .problem, priority: .notification, wait: .keys
    ) { try $0.receive($1) }

    // Sign-in on the web.

    static let beginWebSignIn = Endpoint(
        "beginWebSignIn", .get, "/v1/web/sign-in", of: \.web, caller: .anyone, body: .none, errors: .problem,
        priority: .ordinary
    ) { try $0.begin($1) }

    /// Apple's page posts its form from Apple's origin. The state in the form binds it to the browser.
    static let receiveWebCallback = Endpoint(
        "receiveWebCallback", .post, "/v1/web/callback", of: \.web, caller: .anyone, body: .form,
        errors: .pageForBrowsers, priority: .ordinary, wait: .keys, fields: .browser, origins: .others
    ) { $0.callback($1) }

    static let finishWebSignIn = Endpoint(
        "finishWebSignIn", .get, "/v1/web/finish", of: \.web, caller: .anyone, body: .none,
        errors: .pageForBrowsers, priority: .ordinary, fields: .browser
    ) { $0.finish($1) }

    static let redeemWebCode = Endpoint(
        "redeemWebCode", .post, "/v1/web/results", of: \.web, caller: .apiKey, body: .json, errors: .problem,
        priority: .ordinary
    ) { try $0.redeem($1) }

    // OAuth 2.0, for clients and resource servers.

    static let introspectToken = Endpoint(
        "introspectToken", .post, "/oauth/introspect", of: \.oauth?.tokens, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.introspect($1) }

    static let issueTokens = Endpoint(
        "issueTokens", .post, "/oauth/token", of: \.oauth?.tokens, caller: .oauthClient, body: .oauthForm,
        errors: .oauth, priority: .ordinary, wait: .keys, fields: .oauth
    ) { try $0.issue($1) }

    static let authorizeDevice = Endpoint(
        "authorizeDevice", .post, "/oauth/device_authorization", of: \.oauth?.devices, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.authorize($1) }

    /// For native clients without a backend, which cannot call `mintNonce`. Stores nothing.
    static let mintClientNonce = Endpoint(
        "mintClientNonce", .post, "/oauth/nonce", of: \.oauth?.tokens, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.mintNonce($1) }

    /// For native clients without a backend, which cannot call `mintChallenge`. Stores nothing.
    static let mintClientChallenge = Endpoint(
        "mintClientChallenge", .post, "/oauth/app-attest/challenges", of: \.oauth?.tokens,
        caller: .oauthClient, body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.mintChallenge($1) }

    /// For native clients without a backend, which cannot call `registerKey`.
    static let registerClientKey = Endpoint(
        "registerClientKey", .post, "/oauth/app-attest/keys", of: \.oauth?.tokens, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.registerKey($1) }

    static let getUserInfo = Endpoint(
        "getUserInfo", .get, "/oauth/userinfo", of: \.oauth?.tokens, caller: .oauthClient, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth, origins: .readers
    ) { try $0.userInfo($1) }

    /// For pages that have an access token.
    static let postUserInfo = Endpoint(
        "postUserInfo", .post, "/oauth/userinfo", of: \.oauth?.tokens, caller: .oauthClient, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth, origins: .readers
    ) { try $0.userInfo($1) }

    static let revokeToken = Endpoint(
        "revokeToken", .post, "/oauth/revoke", of: \.oauth?.tokens, caller: .oauthClient, body: .oauthForm,
        errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.revoke($1) }

    static let pollClientEvents = Endpoint(
        "pollClientEvents", .post, "/oauth/events/poll", of: \.oauth?.streams, caller: .oauthClient,
        body: .json, errors: .oauth, priority: .ordinary, wait: .longPoll(EventPolling.longestWait),
        fields: .oauth
    ) { try $0.poll($1) }

    static let showEventStream = Endpoint(
        "showEventStream", .get, "/oauth/events/stream", of: \.oauth?.streams, caller: .oauthClient,
        body: .none, errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.show($1) }

    static let verifyEventStream = Endpoint(
        "verifyEventStream", .post, "/oauth/events/verify", of: \.oauth?.streams, caller: .oauthClient,
        body: .json, errors: .oauth, priority: .ordinary, fields: .oauth
    ) { try $0.verify($1) }

    static let explainRevocation = Endpoint(
        "explainRevocation", .get, "/oauth/revoke", of: \.oauth?.tokens, caller: .anyone, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth
    ) { family, _ in try family.explainRevocation() }

    static let getKeySet = Endpoint(
        "getKeySet", .get, "/oauth/jwks.json", of: \.oauth?.keySet, caller: .anyone, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth, origins: .readers
    ) { family, _ in family.keySet() }

    /// The same set, also without OAuth clients: receivers verify security event tokens with it.
    static let getEventKeySet = Endpoint(
        "getEventKeySet", .get, "/v1/jwks.json", of: \.keySet, caller: .anyone, body: .none,
        errors: .problem, priority: .ordinary
    ) { family, _ in family.keySet() }

    static let getServerMetadata = Endpoint(
        "getServerMetadata", .get, "/.well-known/oauth-authorization-server", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth, origins: .readers
    ) { family, _ in family.metadata() }

    static let getOpenIDConfiguration = Endpoint(
        "getOpenIDConfiguration", .get, "/.well-known/openid-configuration", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth, origins: .readers
    ) { family, _ in family.metadata() }

    static let getRISCConfiguration = Endpoint(
        "getRISCConfiguration", .get, "/.well-known/risc-configuration", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { family, _ in family.riscConfiguration() }

    static let getSSFConfiguration = Endpoint(
        "getSSFConfiguration", .get, "/.well-known/ssf-configuration", of: \.oauth?.streams, caller: .anyone,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { family, _ in family.configuration() }

    static let getAppSiteAssociation = Endpoint(
        "getAppSiteAssociation", .get, "/.well-known/apple-app-site-association", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { family, _ in try family.appSiteAssociation() }

    static let getAssetLinks = Endpoint(
        "getAssetLinks", .get, "/.well-known/assetlinks.json", of: \.oauth?.documents, caller: .anyone,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { family, _ in try family.assetLinks() }

    /// All calls. Calls with a fixed path are searched in this order, so the frequent calls come first.
    static let all: [Endpoint] = [
        .verifyIdentityToken, .signIn, .getCredential, .queryCredentials, .mintNonce, .mintChallenge,
        .registerKey, .getAttestedKey, .listEvents, .pollEvents, .getAccount, .findAccount,
        .listAccountEvents, .eraseAccount, .disableAccount, .enableAccount, .signOutAccount, .getErasure,
        .getAppCheck, .receiveAppleNotification, .beginWebSignIn, .receiveWebCallback, .finishWebSignIn,
        .redeemWebCode, .authorize, .answerConsent, .showConnections, .removeConnection, .endSession,
        .postEndSession, .showDevicePage, .answerDevicePage, .introspectToken, .issueTokens,
        .authorizeDevice, .mintClientNonce, .mintClientChallenge, .registerClientKey, .getUserInfo,
        .postUserInfo, .revokeToken, .explainRevocation, .pollClientEvents, .showEventStream,
        .verifyEventStream, .getKeySet, .getEventKeySet, .getServerMetadata, .getOpenIDConfiguration,
        .getRISCConfiguration, .getSSFConfiguration, .getAppSiteAssociation, .getAssetLinks,
        .answerAppFlip, .promptAppFlip, .listGrants, .endGrants, .endGrant, .receiveGoogleEvent,
        .checkLiveness, .checkReadiness, .getHealth, .getVersion, .getMetrics, .getOpenAPI,
    ]
}

/// The calls of OAuth 2.0 for backends and Google.
extension Endpoint {
    static let answerAppFlip = Endpoint(
        "answerAppFlip", .post, "/v1/oauth/app-flip", of: \.oauth?.grants, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary, wait: .keys, fields: .oauth
    ) { try $0.appFlip($1) }

    static let promptAppFlip = Endpoint(
        "promptAppFlip", .post, "/v1/oauth/app-flip/prompt", of: \.oauth?.grants, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.appFlipPrompt($1) }

    static let listGrants = Endpoint(
        "listGrants", .get, "/v1/accounts/{id}/grants", of: \.oauth?.grants, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.list($1) }

    static let endGrant = Endpoint(
        "endGrant", .delete, "/v1/accounts/{id}/grants/{grant_id}", of: \.oauth?.grants, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.end($1) }

    static let endGrants = Endpoint(
        "endGrants", .delete, "/v1/accounts/{id}/grants", of: \.oauth?.grants, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.endAll($1) }

    static let receiveGoogleEvent = Endpoint(
        "receiveGoogleEvent", .post, "/v1/google/security-events", of: \.oauth?.grants, caller: .oauthClient,
        body: .securityEventToken, errors: .problem, priority: .notification, wait: .keys, fields: .oauth
    ) { try $0.receiveEvent($1) }
}

/// The calls of operators.
extension Endpoint {
    static let checkLiveness = Endpoint(
        "checkLiveness", .get, "/livez", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.live() }

    static let checkReadiness = Endpoint(
        "checkReadiness", .get, "/readyz", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.ready() }

    static let getHealth = Endpoint(
        "getHealth", .get, "/health", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.health() }

    static let getVersion = Endpoint(
        "getVersion", .get, "/version", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.versionResponse() }

    /// Needs a key: the metrics show the number of sign-ins, on the port that faces the internet.
    static let getMetrics = Endpoint(
        "getMetrics", .get, "/metrics", of: \.operations, caller: .metricsReader, body: .none,
        errors: .problem, priority: .operations
    ) { try $0.metrics($1) }

    static let getOpenAPI = Endpoint(
        "getOpenAPI", .get, "/openapi.yaml", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .ordinary
    ) { family, _ in family.openAPI() }
}

/// The pages of the authorization server, for browsers.
extension Endpoint {
    static let authorize = Endpoint(
        "authorize", .get, "/oauth/authorize", of: \.authorize, caller: .anyone, body: .none, errors: .page,
        priority: .ordinary, fields: .browser
    ) { $0.begin($1) }

    /// The consent page hides its origin, because it sends no referrer (Fetch §3.2); its form has a token.
    static let answerConsent = Endpoint(
        "answerConsent", .post, "/oauth/authorize", of: \.authorize, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.response($1) }

    static let showConnections = Endpoint(
        "showConnections", .get, "/account/connections", of: \.connections, caller: .anyone, body: .none,
        errors: .page, priority: .ordinary, fields: .browser
    ) { $0.show($1) }

    /// The page hides its origin, like the consent page; its forms have tokens.
    static let removeConnection = Endpoint(
        "removeConnection", .post, "/account/connections", of: \.connections, caller: .anyone,
        body: .pageForm, errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.remove($1) }

    static let endSession = Endpoint(
        "endSession", .get, "/oauth/logout", of: \.logout, caller: .anyone, body: .none, errors: .page,
        priority: .ordinary, fields: .browser
    ) { $0.begin($1) }

    /// A client's page posts from its own origin, and nothing changes before the user agrees or an ID token is
    /// verified. The form of our own page has a token.
    static let postEndSession = Endpoint(
        "postEndSession", .post, "/oauth/logout", of: \.logout, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.post($1) }

    static let showDevicePage = Endpoint(
        "showDevicePage", .get, "/oauth/device", of: \.devicePages, caller: .anyone, body: .none,
        errors: .page, priority: .ordinary, fields: .browser
    ) { $0.show($1) }

    /// The page hides its origin, like the consent page; its form has a token.
    static let answerDevicePage = Endpoint(
        "answerDevicePage", .post, "/oauth/device", of: \.devicePages, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.response($1) }
}

/// The handlers of the calls, by family.
///
/// The families are classes, so that a request costs one reference and no copy of their dependencies.
struct Routes: Sendable {
    let tokens: TokenRoutes
    let accounts: AccountRoutes
    let accountChanges: AccountChangeRoutes
    let credentials: CredentialRoutes
    let events: EventRoutes
    /// `nil` where no receiver of events polls with an API key.
    let eventPolls: EventPollRoutes?
    let notifications: NotificationRoutes
    let erasures: ErasureRoutes
    /// `nil` for a service that stores no counts.
    let appCheck: AppCheckRoutes?
    /// `nil` where no app has an entry for App Attest.
    let appAttest: AppAttestRoutes?
    /// `nil` where the web flow is not configured.
    let web: WebRoutes?
    /// `nil` where no OAuth client is configured.
    let authorize: AuthorizeRoutes?
    /// The same.
    let connections: ConnectionsRoutes?
    /// The same.
    let logout: LogoutRoutes?
    /// `nil` where no OAuth client may use the device grant.
    let devicePages: DevicePageRoutes?
    let operations: OperationsRoutes
    /// `nil` for a service that signs nothing: without OAuth clients and receivers of security event tokens.
    let keySet: KeySetRoutes?
    /// `nil` where no OAuth client is configured.
    let oauth: OAuthRoutes?
    /// The languages of the pages.
    let languages: PageLanguages
}
