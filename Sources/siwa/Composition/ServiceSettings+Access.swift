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
        environment == .development ? ForeignPageCheck(hosts: developmentHosts) : nil
    }

    /// The host names of the service in development.
    var developmentHosts: AllowedHosts {
        let publicHost = publicURL.flatMap { WebAddress($0)?.host }
        return AllowedHosts(allowedHosts + [host] + (publicHost.map { [$0] } ?? []))
    }

    /// The host names of the console on its own port. Another name in `Host` is that of a page of another
    /// site, which lets its name resolve to this address.
    var consoleHosts: AllowedHosts { AllowedHosts(consoleAllowedHosts + [consoleHost]) }
}
