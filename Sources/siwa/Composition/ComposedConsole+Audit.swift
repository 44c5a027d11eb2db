import Console

extension ComposedConsole.Parts {
    /// Keeps what operators do in the console in the audit log of the database.
    var storedAudit: any ConsoleAudit { StoredConsoleAudit(store: store, now: now) }
}
