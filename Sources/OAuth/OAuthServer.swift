import AppleAccounts
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
    let userCodeGuessing = Mutex(UserCodeGuessing())
    /// Wakes the worker that notifies Google of ended tokens.
    let signals = WorkerSignals()
    let verifier: AccessTokenVerifier

    public init(_ dependencies: OAuthDependencies) {
        self.dependencies = dependencies
        verifier = AccessTokenVerifier(issuer: dependencies.settings.issuer.text)
    }

    var settings: OAuthSettings { dependencies.settings }

    func now() -> Moment { dependencies.now() }

    /// Commits a command that may end tokens, and wakes the worker that reports their end.
    func submitEnding<Typed: TypedCommand>(
        _ command: Typed
    ) async throws -> Typed.Output where Typed.Command == GrantCommand {
        do {
            let output = try await dependencies.commits.submit(command)
            // A command that issues tokens ends only old token families above a limit, which are not
            // reported. Waking the worker would cost a transaction.
            if !(command is any TokenCommand) { signals[SecurityEventDelivering.self].wake() }
            return output
        } catch {
            // A refusal may have ended a stolen token family. After a failure of the database nothing has
            // ended, and a device polls every few seconds in vain.
            if let refusal = error as? GrantRefusal, !refusal.isOfWaitingDevice {
                signals[SecurityEventDelivering.self].wake()
            }
            throw error
        }
    }

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

extension GrantRefusal {
    fileprivate var isOfWaitingDevice: Bool { code == .devicePending || code == .devicePolledEarly }
}
