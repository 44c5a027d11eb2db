import AppleAccounts
import AuthorizationServer
import Encodings
import JOSE
import SignIn
import Synchronization

/// What the use cases share while the service runs. Each use case is a type that has this.
public final class OAuthServer: Sendable {
    public let parts: OAuthParts
    let guessing = Mutex(SecretGuessing())
    /// Wakes the worker that tells Google of ended tokens.
    let deliverySignal = WakeupSignal()
    let verifier: AccessTokenVerifier

    public init(_ parts: OAuthParts) {
        self.parts = parts
        verifier = AccessTokenVerifier(issuer: parts.settings.issuer.text)
    }

    var settings: OAuthSettings { parts.settings }

    func now() -> Moment { parts.now() }

    /// Commits a command that may end tokens, and wakes the worker that reports their end.
    func submitEnding<Command: TypedGrantCommand>(_ command: Command) async throws -> Command.Output {
        do {
            let output = try await parts.commits.submit(command)
            // A command that gives tokens ends only older ones beyond a ceiling, which are not reported. To
            // wake the worker costs a transaction.
            if !(command is any TokenCommand) { deliverySignal.wake() }
            return output
        } catch {
            // A refusal may have ended what was stolen. A database that does not answer has ended nothing.
            if error is GrantRefusal { deliverySignal.wake() }
            throw error
        }
    }

    /// The access token, if this service has issued it for a configured client, and it has not expired.
    /// Whether it is still good is in the store.
    ///
    /// - Throws: `StorageError`.
    func genuineAccessToken(_ text: String) async throws -> AccessToken? {
        guard let unverified = AccessTokenVerifier.Unverified(text),
            let key = try await parts.keys.verificationKey(unverified.keyID),
            let token = verifier.verify(unverified, with: key, at: now().milliseconds / 1000),
            let client = settings.clients[token.clientID],
            // One that was issued before the client got another audience or algorithm is no longer for us.
            client.audience.isByteEqual(to: token.audience),
            client.accessTokenAlgorithm.signature == key.algorithm
        else { return nil }
        return token
    }
}
