import AppleIDClient
import AppleIdentity
import KeySets

extension SettingsReader {
    mutating func keySource() -> KeySource {
        let file = text(.keysFile)
        if let base = text(.baseURL) {
            let setting = Setting.baseURL.name
            if !isDevelopment {
                mistakes.add(setting, "is only for SIWA_ENV=development; remove it in production")
            }
            if AppleEndpoints(baseURL: base) == nil {
                mistakes.add(setting, "must be an http or https URL without user, query and fragment")
            }
            if file != nil {
                mistakes.add(setting, "cannot be set together with \(Setting.keysFile.name)")
            }
            return .remote(baseURL: base)
        }
        guard let file else { return .remote(baseURL: KeySource.apple) }
        do throws(PinnedKeySetError) {
            return .pinned(try PinnedKeySet(file: file))
        } catch {
            mistakes.add(Setting.keysFile.name, "cannot be used: \(error)")
            return .remote(baseURL: KeySource.apple)
        }
    }

    /// Reads the accepted issuers. In production only hosts of Apple are accepted: tokens of another issuer
    /// are signed with other keys and could not be verified.
    mutating func issuers() -> [String] {
        let setting = Setting.issuers.name
        let issuers = list(.issuers) ?? []
        if issuers.contains(where: \.isEmpty) { mistakes.add(setting, "has an empty entry") }
        if Set(issuers).count < issuers.count { mistakes.add(setting, "has an entry twice") }
        if !isDevelopment, !issuers.allSatisfy(isApples) {
            mistakes.add(setting, "must be https and a host under apple.com")
        }
        return issuers
    }

    private func isApples(_ issuer: String) -> Bool {
        guard issuer.hasPrefix("https://") else { return false }
        let host = issuer.dropFirst("https://".count)
        let isHostName = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isHostName && (host == "apple.com" || host.hasSuffix(".apple.com"))
    }
}
