public import AppleAccounts
import AppleIdentity
public import Commits
import Cryptography
import Encodings
import JOSE
import KeySets

extension SignInUseCases {
    /// Verifies Apple's server-to-server notification, and returns the command to commit.
    ///
    /// Nothing of a payload that does not verify is stored. Waits only when the payload's key has to be
    /// fetched.
    /// - Throws: `AppleTokenError`, `KeySetError`. The commit throws `StorageError` and `OverloadedError`.
    public func receiveNotification(
        payload: String
    ) throws -> Step<PendingCommit<NotificationReceipt>> {
        let moment = now()
        let token = try UnverifiedToken(payload)
        if let key = keys.cachedKey(for: token.keyID) {
            return .now(try pendingNotification(token, with: key, payload: payload, at: moment))
        }
        return .later {
            let key = try await keys.key(for: token.keyID, issuedAt: token.claimedIssuedAt)
            return try pendingNotification(token, with: key, payload: payload, at: moment)
        }
    }

    private func pendingNotification(
        _ token: UnverifiedToken, with key: RSAPublicKey, payload: String, at moment: Moment
    ) throws -> PendingCommit<NotificationReceipt> {
        let notification = try notificationVerifier.verify(
            token, with: key, at: NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000))
        guard let clientID = ClientID(notification.clientID), let app = deployment.app(for: clientID) else {
            throw AppleTokenError(.audienceMismatch)
        }
        let command = NotificationCommand(
            identifier: Self.identifier(of: notification, payload: payload), team: app.team,
            clientID: app.primaryClientID,
            events: notification.events.map { NotifiedEvent($0, of: notification) },
            payload: payload, receivedAt: moment)
        return PendingCommit(command) { $0 }
    }

    /// Returns Apple's `jti`, or the digest of the payload when there is no `jti` or it cannot be stored.
    private static func identifier(
        of notification: VerifiedNotification, payload: String
    ) -> InboxIdentifier {
        if let identifier = notification.identifier.flatMap({ InboxIdentifier($0) }) { return identifier }
        let digest = "sha256:" + Hexadecimal.encode(SHA256Digest.hash(payload))
        guard let identifier = InboxIdentifier(digest) else {
            preconditionFailure("a digest is a valid identifier")
        }
        return identifier
    }
}
