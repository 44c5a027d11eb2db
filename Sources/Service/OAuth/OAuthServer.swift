package import AppleAccounts
import AuthorizationServer
import Commits
import Encodings
import JOSE
import SignIn
import Synchronization

/// State that the use cases share while the service runs. Each use case is a type that holds the server.
public final class OAuthServer: Sendable {
    public let dependencies: OAuthDependencies
    let guessing = Mutex(SecretGuessing())
    let registrations = Mutex(RegistrationPace())
    let deviceRequests = Mutex(
        AddressPace(most: DeviceRequests.mostOfAddress, window: DeviceAuthorization.lifetime))
    let userCodeGuessing = Mutex(UserCodeGuessing())
    let verifier: AccessTokenVerifier

    public init(_ dependencies: OAuthDependencies) {
        self.dependencies = dependencies
        verifier = AccessTokenVerifier(issuer: dependencies.settings.issuer.text)
    }

    /// Returns the addresses that sent a wrong secret of a client in the last 15 minutes, those with the most first.
    package func secretGuesses(of client: OAuthClientID) -> [SecretGuesses] {
        let moment = now()
        return guessing.withLock { $0.guesses(of: client, now: moment) }
    }

    var settings: OAuthSettings { dependencies.settings }

    func now() -> Moment { dependencies.now() }

    /// Returns the access token, if this service has issued it for a configured client, and it has not
    /// expired. The store decides whether it is still valid.
    ///
    /// - Throws: `StorageError`.
    func genuineAccessToken(_ text: String) async throws -> AccessToken? {
        guard let unverified = AccessTokenVerifier.Unverified(text),
            let key = try await dependencies.keys.verificationKey(unverified.keyID),
            let token = verifier.verify(unverified, with: key, at: now().milliseconds / 1000),
            let client = settings.clients[token.clientID],
            // A token that was issued before the client got another audience or algorithm is refused.
            client.audience.isByteEqual(to: token.audience),
            client.accessTokenAlgorithm.signature == key.algorithm
        else { return nil }
        return token
    }
}
