import AppleAccounts

/// An app that the user has to disconnect at Apple, because this service could not prove that the token was
/// revoked.
struct ManualRevocation: Equatable {
    /// The app's primary client ID.
    let clientID: ClientID
    /// The reason for which there was no token, or for which it could not be revoked.
    let cause: String

    /// Returns the apps that need a manual revocation. One token that is proven to be revoked ends the user's
    /// consent for the whole app. While a token is still being revoked, the result is open. Where consent was
    /// withdrawn before, nothing is left to do.
    static func needed(after record: ErasureRecord) -> [ManualRevocation] {
        record.apps.compactMap { app in
            guard app.stateBefore == .authorized else { return nil }
            let tokens = record.tokens.filter { $0.primaryClientID == app.clientID }
            guard tokens.allSatisfy(\.isDone), !tokens.contains(where: { $0.step == .done(.provenRevoked) })
            else { return nil }
            let cause = tokens.compactMap(\.cause).first ?? app.refreshTokenCause?.rawValue ?? "no_token"
            return ManualRevocation(clientID: app.clientID, cause: cause)
        }
    }

    static let instructions =
        "Apple still lists the app for this user, who can remove it: on an iPhone in Settings, their name, "
        + "Sign-In & Security, Sign in with Apple, the app, Stop Using Apple Account; in a browser at "
        + "account.apple.com under Sign-In and Security, Sign in with Apple."
}
