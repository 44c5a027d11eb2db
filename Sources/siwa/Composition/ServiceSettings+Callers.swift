import HTTPAPI

extension ServiceSettings {
    /// In development, a service without API keys is open to all callers. In production, the settings reader
    /// has refused it.
    var callers: CallerDirectory {
        apiKeys.isEmpty && environment == .development ? .open : CallerDirectory(keys: apiKeys)
    }
}
