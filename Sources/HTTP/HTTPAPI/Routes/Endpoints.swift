import AuthorizationServer
import HTTPEngine

// The OpenAPI document is generated from this list, so an endpoint that is missing from `all` is neither
// served nor documented. A test compares the list with the API documentation and with the sample proxy
// configurations.
extension Endpoint {
    /// All endpoints, the most frequently called first: the route table searches endpoints with a fixed path
    /// in this order.
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

/// The objects that handle the calls, grouped in families.
///
/// The families are classes, so that a request copies one reference instead of all dependencies.
struct Routes: Sendable {
    let tokens: TokenRoutes
    let accounts: AccountRoutes
    let accountChanges: AccountChangeRoutes
    let credentials: CredentialRoutes
    let events: EventRoutes
    /// The polling routes for event receivers; `nil` if no receiver polls with an API key.
    let eventPolls: EventPollRoutes?
    let notifications: NotificationRoutes
    let erasures: ErasureRoutes
    /// The App Check counts; `nil` if the service stores no counts.
    let appCheck: AppCheckRoutes?
    /// The App Attest calls; `nil` if no app is configured for App Attest.
    let appAttest: AppAttestRoutes?
    /// The web sign-in; `nil` if it is not configured.
    let web: WebRoutes?
    /// The authorization endpoint; `nil` if no OAuth client is configured.
    let authorize: AuthorizeRoutes?
    /// The connections page; `nil` if no OAuth client is configured.
    let connections: ConnectionsRoutes?
    /// The browser sign-out; `nil` if no OAuth client is configured.
    let logout: LogoutRoutes?
    /// The device page; `nil` if no OAuth client may use the device grant.
    let devicePages: DevicePageRoutes?
    let operations: OperationsRoutes
    /// The key set; `nil` if the service signs nothing, because it has neither OAuth clients nor receivers of
    /// security event tokens.
    let keySet: KeySetRoutes?
    /// The OAuth endpoints; `nil` if no OAuth client is configured.
    let oauth: OAuthRoutes?
    let languages: PageLanguages
}
