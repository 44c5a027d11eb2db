import AppleAccounts

extension AuthorizeUseCase {
    /// Returns the session of a browser, of any app; `nil` when it has expired, or was ended.
    ///
    /// - Throws: `StorageError`.
    func liveSession(of browser: AuthorizeBrowser) async throws -> BrowserSession? {
        let now = now()
        guard let session = sessions.open(browser.session), session.isGood(for: session.clientID, at: now),
            try await !endedSessions.contains(session, at: now)
        else { return nil }
        return session
    }
}
