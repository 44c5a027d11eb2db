public import AppleAccounts
import AppleIdentity
import Cryptography
import Encodings

extension SignInUseCases {
    /// Takes Apple's server-to-server notification, and returns when it is durable.
    ///
    /// Nothing of a payload that does not verify is stored.
    /// - Throws: `AppleTokenError`, `KeySetError`, `StorageError`, `OverloadedError`.
    public func takeNotification(payload: String) async throws -> NotificationReceipt {
        let moment = now()
        let token = try UnverifiedToken(payload)
        let notification = try notificationVerifier.verify(
            token, with: try await key(for: token),
            at: NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000))
        guard let clientID = ClientID(notification.clientID), let app = deployment.app(for: clientID) else {
            throw AppleTokenError(.audienceMismatch)
        }
        let command = NotificationCommand(
            identifier: Self.identifier(of: notification, payload: payload), team: app.team,
            clientID: app.primaryClientID,
            events: notification.events.map { NotifiedEvent($0, of: notification) },
            payload: payload, receivedAt: moment)
        guard case .notification(let receipt) = try await commits.submit(.notification(command)) else {
            preconditionFailure("a notification has the outcome of a notification")
        }
        return receipt
    }

    /// Apple's `jti`; without one that can be a name, the payload stands for itself.
    private static func identifier(
        of notification: VerifiedNotification, payload: String
    ) -> InboxIdentifier {
        if let identifier = notification.identifier.flatMap({ InboxIdentifier($0) }) { return identifier }
        let digest = "sha256:" + Hexadecimal.encode(SHA256Digest.hash(payload))
        guard let identifier = InboxIdentifier(digest) else { preconditionFailure("a digest is a name") }
        return identifier
    }
}
