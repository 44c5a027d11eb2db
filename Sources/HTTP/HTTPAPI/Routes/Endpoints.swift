import AuthorizationServer
import HTTPEngine

// A call outside of `all` is neither served nor in the OpenAPI document, which follows from the list. A test
// compares the list with the page on the interface and the samples for proxies.
extension Endpoint {
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

/// The handlers of the calls, by family.
///
/// The families are classes, so that a request costs one reference and no copy of their dependencies.
struct Routes: Sendable {
    let tokens: TokenRoutes
    let accounts: AccountRoutes
    let accountChanges: AccountChangeRoutes
    let credentials: CredentialRoutes
    let events: EventRoutes
    /// `nil` if no receiver of events polls with an API key.
    let eventPolls: EventPollRoutes?
    let notifications: NotificationRoutes
    let erasures: ErasureRoutes
    /// `nil` for a service that stores no counts.
    let appCheck: AppCheckRoutes?
    /// `nil` if no app has an entry for App Attest.
    let appAttest: AppAttestRoutes?
    /// `nil` if the web flow is not configured.
    let web: WebRoutes?
    /// `nil` if no OAuth client is configured.
    let authorize: AuthorizeRoutes?
    /// `nil` if no OAuth client is configured.
    let connections: ConnectionsRoutes?
    /// `nil` if no OAuth client is configured.
    let logout: LogoutRoutes?
    /// `nil` if no OAuth client may use the device grant.
    let devicePages: DevicePageRoutes?
    let operations: OperationsRoutes
    /// `nil` for a service that signs nothing: without OAuth clients and receivers of security event tokens.
    let keySet: KeySetRoutes?
    /// `nil` if no OAuth client is configured.
    let oauth: OAuthRoutes?
    /// The languages of the pages.
    let languages: PageLanguages
}
