import HTTPAPI
import WebOrigins

extension ServiceSettings {
    /// Callers of the service. Without API keys, a service in development is open to all callers; in
    /// production the settings reader refuses the configuration.
    var callers: CallerDirectory {
        apiKeys.isEmpty && environment == .development
            ? .open : CallerDirectory(keys: apiKeys, metricsKey: metricsKey)
    }
}

extension ServiceSettings {
    /// The check of `Host` and `Origin` in development, where a web page in the developer's browser can reach
    /// the service. `nil` in production: there the proxy checks `Host`, and callers have API keys.
    var foreignPages: ForeignPageCheck? {
        guard environment == .development else { return nil }
        let publicHost = publicURL.flatMap { WebAddress($0)?.host }
        return ForeignPageCheck(
            hosts: AllowedHosts(allowedHosts + [host] + (publicHost.map { [$0] } ?? [])))
    }
}
