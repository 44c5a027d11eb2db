import AuthorizationServer
import HTTPEngine

// A call outside of `all` is neither served nor documented, because the OpenAPI document follows from the
// list. A test compares the list with the documentation of the interface and with the sample configurations
// for proxies.
extension Endpoint {
    /// All calls. Calls with a fixed path are searched in this order, so frequent calls come first.
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

/// The handlers of the calls, grouped in families.
///
/// The families are classes, so that a request copies one reference and no dependencies.
struct Routes: Sendable {
    let tokens: TokenRoutes
    let accounts: AccountRoutes
    let accountChanges: AccountChangeRoutes
    let credentials: CredentialRoutes
    let events: EventRoutes
    /// The polls of receivers; `nil` if no receiver polls with an API key.
    let eventPolls: EventPollRoutes?
    let notifications: NotificationRoutes
    let erasures: ErasureRoutes
    /// The counts of App Check; `nil` for a service that stores no counts.
    let appCheck: AppCheckRoutes?
    /// The calls of App Attest; `nil` if no app is configured for App Attest.
    let appAttest: AppAttestRoutes?
    /// The sign-in on the web; `nil` if it is not configured.
    let web: WebRoutes?
    /// The authorization endpoint; `nil` if no OAuth client is configured.
    let authorize: AuthorizeRoutes?
    /// The page about connected clients; `nil` if no OAuth client is configured.
    let connections: ConnectionsRoutes?
    /// The sign-out in a browser; `nil` if no OAuth client is configured.
    let logout: LogoutRoutes?
    /// The page for the users of devices; `nil` if no OAuth client may use the device grant.
    let devicePages: DevicePageRoutes?
    let operations: OperationsRoutes
    /// The key set; `nil` for a service that signs nothing, because it has neither OAuth clients nor
    /// receivers of security event tokens.
    let keySet: KeySetRoutes?
    /// The OAuth endpoints; `nil` if no OAuth client is configured.
    let oauth: OAuthRoutes?
    /// The languages of the pages.
    let languages: PageLanguages
}
