import HTTPAPI

extension ServiceSettings {
    /// Development without a key is open to everybody; production without a key does not get this far.
    var callers: CallerDirectory {
        apiKeys.isEmpty && environment == .development ? .open : CallerDirectory(keys: apiKeys)
    }
}
