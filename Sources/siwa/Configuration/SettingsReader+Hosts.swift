import ForeignPages

extension SettingsReader {
    /// Names under which the service is called in development, besides those that it knows by itself.
    mutating func allowedHosts() -> [String] {
        let names = list(.allowedHosts) ?? []
        if !names.allSatisfy(AllowedHosts.isName) {
            mistakes.add(
                SettingName.allowedHosts.rawValue,
                "must be names or addresses without a port, comma-separated")
        }
        if !names.isEmpty, !isDevelopment {
            mistakes.add(
                SettingName.allowedHosts.rawValue,
                "is for development only: in production every Host is answered, and a proxy checks it; remove it"
            )
        }
        return names
    }
}
