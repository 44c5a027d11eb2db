import ForeignPages

extension ServiceSettings {
    /// In development, where a page in the developer's browser reaches the service as the developer does. `nil` in
    /// production: what `Host` says there is for the proxies to check, and callers bring keys.
    var foreignPages: ForeignPageCheck? {
        guard environment == .development else { return nil }
        let publicHost = publicURL.flatMap { WebAddress($0)?.host }
        return ForeignPageCheck(
            hosts: AllowedHosts(allowedHosts + [host] + (publicHost.map { [$0] } ?? [])))
    }
}
