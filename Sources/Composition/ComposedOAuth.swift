import AppleAccounts
import AppleIDClient
import AsyncHTTPClient
import AuthorizationServer
import Commits
import HTTPAPI
import HTTPEngine
import KeySets
import Logging
import OAuth
import ServiceLifecycle
import SignIn
import Tracing

/// The authorization server, composed from the settings.
///
/// Absent if there are no OAuth clients, so that the service creates no signing key, runs no worker and
/// stores nothing.
struct ComposedOAuth {
    let server: OAuthServer
    /// The keys that sign tokens and, for receivers, events.
    let keys: SigningKeys
    /// The authorization endpoint; `nil` if sign-in in a browser is not configured.
    let authorize: AuthorizeUseCase?
    private let commits: GroupCommit<GrantCommand>
    private let workers: [any Service]

    /// - Parameters:
    ///   - client: The HTTP client for requests to Google. Its owner shuts it down after the services have
    ///     stopped.
    ///   - tracer: Records spans; `nil` if tracing is off.
    ///   - web: The Sign in with Apple flow that the authorization endpoint uses.
    /// - Returns: `nil` if there are no OAuth clients. If there are, the settings reader guarantees a sealing
    ///   key.
    init?(
        settings: ServiceSettings, store: any AuthorizationStore, signIn: SignInUseCases, web: WebSignIn?,
        feed: EventFeed, client: HTTPClient, tracer: (any Tracer)?, now: @escaping @Sendable () -> Moment,
        logger: Logger
    ) {
        guard let oauth = settings.oauth, let sealingKeys = settings.sealingKeys else { return nil }
        let commits = GroupCommit<GrantCommand>(
            store: store, feed: feed, delay: EventLoopDelay.commits, tracer: tracer)
        let keys = SigningKeys(
            for: oauth, store: store, sealingKeys: sealingKeys,
            signsEvents: settings.signsEvents, now: now, logger: logger)
        self.keys = keys
        // Google's keys are fetched only when a Google token arrives: most deployments never receive one.
        let googleKeys = RemoteKeySet(
            source: HTTPKeySetSource(client: client, url: settings.googleEndpoints.certificates))
        let googleEventKeys = RemoteKeySet(
            source: RISCKeySetSource(client: client, endpoints: settings.googleEndpoints))
        let server = OAuthServer(
            OAuthDependencies(
                settings: oauth, deployment: settings.deployment, store: store, commits: commits,
                signIn: signIn, keys: keys, googleKeys: googleKeys, googleEventKeys: googleEventKeys,
                now: now))
        self.server = server
        self.commits = commits
        authorize = web.map { web in
            AuthorizeUseCase(
                settings: oauth, store: store, commits: commits, keys: keys, web: web,
                sealingKeys: sealingKeys, now: now)
        }
        workers = [OAuthMaintenance(server: server, logger: logger)]
    }

    /// Services in service group order. They stop in reverse order: first the workers finish their requests,
    /// then accepted commands are committed.
    var services: [any Service] { [commits] + workers }
}
