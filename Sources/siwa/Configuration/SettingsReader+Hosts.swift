import WebOrigins

extension SettingsReader {
    /// Reads the additional host names of the service in development.
    mutating func allowedHosts() -> [String] {
        let names = list(.allowedHosts) ?? []
        if !names.allSatisfy(AllowedHosts.isName) {
            mistakes.add(
                Setting.allowedHosts.name,
                "must be names or addresses without a port, comma-separated")
        }
        if !names.isEmpty, !isDevelopment {
            mistakes.add(
                Setting.allowedHosts.name,
                "is for development only; remove it: in production a proxy checks the Host field"
            )
        }
        return names
    }
}
