import HTTPAPI
import WebOrigins

extension SettingsReader {
    /// Reads the address and the host names of the console.
    mutating func console(
        numbers: SettingNumbers, host serviceHost: String, apiKeys: [APIKey]
    ) -> (host: String, allowedHosts: [String]) {
        let host = text(.consoleHost) ?? ""
        checkAddress(host, of: .consoleHost)
        let names = list(.consoleAllowedHosts) ?? []
        if !names.allSatisfy(AllowedHosts.isName) {
            mistakes.add(
                Setting.consoleAllowedHosts.name, "must be names or addresses without a port, comma-separated"
            )
        }
        let port = numbers[.consolePort]
        guard port != 0 else { return (host, names) }
        if port == numbers[.port] {
            mistakes.add(
                Setting.consolePort.name,
                "must differ from SIWA_PORT: a proxy passes that port on to everyone")
        }
        if !apiKeys.contains(where: { $0.roles.contains(.operator) }) {
            mistakes.add(
                Setting.consolePort.name,
                "needs an API key of the role operator to sign in with; give an entry of api_keys in the file "
                    + "of SIWA_CONFIG the line roles: [operator]")
        }
        return (host, names)
    }
}
