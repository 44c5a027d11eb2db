import AppleAccounts

/// An app that the person has to disconnect by hand, because this service could not prove that Apple did.
struct ManualRevocation: Equatable {
    /// The app's primary client ID.
    let clientID: ClientID
    /// Why: the cause of the token's absence, or of its failure.
    let cause: String

    /// One token that is proven to be revoked ends the person's consent for its whole app. Where a token is still on its
    /// way, nothing is known yet; where consent was withdrawn before, nothing is left to do.
    static func needed(after record: ErasureRecord) -> [ManualRevocation] {
        record.apps.compactMap { app in
            guard app.stateBefore == .authorized else { return nil }
            let grants = record.grants.filter { $0.primaryClientID == app.clientID }
            guard grants.allSatisfy(\.isDone), !grants.contains(where: { $0.step == .done(.provenRevoked) })
            else { return nil }
            let cause = grants.compactMap(\.cause).first ?? app.refreshTokenCause?.rawValue ?? "no_token"
            return ManualRevocation(clientID: app.clientID, cause: cause)
        }
    }

    static let instructions =
        "Apple still lists the app for this person. They can end it themselves: on an iPhone in Settings, their name, "
        + "Sign-In & Security, Sign in with Apple, the app, Stop Using Apple Account; in a browser at "
        + "account.apple.com under Sign-In and Security, Sign in with Apple."
}
