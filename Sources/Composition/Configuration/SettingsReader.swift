import AppAttestation
import AppleAccounts
import AuthorizationServer
import Configuration
import Encodings
import Foundation
import HTTPAPI
import HTTPEngine
import Logging
import PostgresStorage

extension ServiceSettings {
    /// Reads the settings. Reads all members even after a mistake, so that all mistakes are reported
    /// together.
    fileprivate init(_ reader: inout SettingsReader) throws {
        environment = reader.choice(.environment) ?? .production
        reader.isDevelopment = environment == .development
        let teams = reader.teams()
        let deployment = reader.deployment(of: teams)
        host = reader.text(.host) ?? ""
        reader.checkAddress(host, of: .host)
        trustedProxies = reader.trustedProxies()
        allowedHosts = reader.allowedHosts()
        logLevel = reader.choice(.logLevel) ?? .info
        logFormat = reader.choice(.logFormat) ?? .text
        traces = reader.traceSettings()
        let database = reader.database()
        numbers = reader.numbers()
        apiKeys = reader.apiKeys(for: deployment)
        metricsKey = reader.metricsKey(beside: apiKeys)
        if apiKeys.isEmpty { reader.refuseOtherMachines(at: host) }
        keySource = reader.keySource()
        issuers = reader.issuers()
        signingKeys = reader.signingKeys(of: teams)
        sealingKeys = reader.sealingKeys()
        publicURL = reader.publicURL()
        webRedirectURLs = reader.webRedirectURLs(of: teams, publicURL: publicURL, sealingKeys: sealingKeys)
        let servicesIDs = Set(teams.flatMap(\.apps).flatMap(\.servicesIDs).compactMap { ClientID($0) })
        let attested = reader.appCheckPolicies(of: teams, webClientIDs: Set(webRedirectURLs.keys))
        oauth = reader.oauthSettings(
            for: deployment, appCheck: AppCheckPolicies(attested), servicesIDs: servicesIDs,
            publicURL: publicURL, sealingKeys: sealingKeys, webRedirectURLs: webRedirectURLs)
        appCheck = AppCheckPolicies(attested + (oauth?.clients.clients.compactMap(\.appCheck) ?? []))
        let canSign = publicURL != nil && sealingKeys != nil
        webhooks = reader.webhooks(for: deployment, canSign: canSign)
        polledReceivers = reader.polledReceivers(
            for: deployment, keys: apiKeys, beside: webhooks, canSign: canSign)
        clientStreams = reader.clientStreams(of: oauth, beside: webhooks.count + polledReceivers.count)
        receipts = reader.receiptExchange(canSeal: sealingKeys != nil, canSign: !signingKeys.isEmpty)
        googleEndpoints = reader.googleEndpoints()
        googleServiceAccountFile = reader.text(.googleServiceAccountFile)
        (consoleHost, consoleAllowedHosts) = reader.console(numbers: numbers, host: host, apiKeys: apiKeys)
        guard reader.mistakes.isEmpty, let deployment, let database else { throw reader.mistakes }
        (self.deployment, self.database) = (deployment, database)
        writtenParts = reader.writtenParts()
        origins = reader.origins(environment: reader.environment)
        namesInKeySetting = Set(
            (reader.list(.apiKeyHashes) ?? []).map { part in String(part.prefix { $0 != "=" }) })
    }
}

/// Reads the configuration and checks every value. Continues after a mistake, so that all mistakes are
/// reported together.
package struct SettingsReader {
    let config: ConfigReader
    let file: SettingsFile?
    /// The environment without empty variables, and without quotation marks around values.
    let environment: [String: String]
    var mistakes: ConfigurationMistakes
    var isDevelopment = false

    /// Returns the checked settings. Throws `ConfigurationMistakes`, which lists all mistakes.
    package static func read(environment: [String: String]) async throws -> ServiceSettings {
        var mistakes = ConfigurationMistakes()
        for name in environment.keys.sorted() where !isKnown(name) {
            let nearest = NearestName.of(name, among: Setting.all.map(\.name)) ?? ""
            mistakes.add(name, "is not known; did you mean \(nearest)?")
        }
        var reader = await SettingsReader(reading: environment, mistakes)
        return try ServiceSettings(&reader)
    }

    /// Opens the file that the environment names. Adds a mistake if the file cannot be read.
    init(reading environment: [String: String], _ found: ConfigurationMistakes) async {
        var mistakes = found
        // Empty variables are treated as unset, because shells and compose files replace an unset variable
        // with an empty variable.
        var environment = environment.filter { !$0.value.isEmpty }
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where Self.isKnownSetting(name) {
            // The lines of a PEM text end with line breaks.
            let isText = name == Setting.privateKey.name
            // Removes the refused characters, so that they do not cause a second mistake.
            var plain = isText ? value : mistakes.trimmed(value, of: name)
            if let unquoted = Self.withoutQuotes(plain) {
                mistakes.add(
                    name, "has quotes around its value, which belong to the value here; remove them")
                plain = isText ? unquoted : mistakes.trimmed(unquoted, of: name)
            }
            environment[name] = plain.isEmpty ? nil : plain
        }
        let secrets = Set(Setting.all.filter(\.isSecret).map(\.name))
        var providers: [any ConfigProvider] = [
            EnvironmentVariablesProvider(
                environmentVariables: environment, secretsSpecifier: .specific(secrets))
        ]
        var file: SettingsFile?
        if let path = environment[Setting.file.name] {
            do {
                let location = InMemoryProvider(values: [
                    "filePath": ConfigValue(.string(path), isSecret: false)
                ])
                let provider = try await FileProvider<SettingsFile>(config: ConfigReader(provider: location))
                file = provider.snapshot() as? SettingsFile
                for mistake in file?.mistakes.list ?? [] { mistakes.add(path, mistake) }
                providers.append(provider)
            } catch {
                mistakes.add(Setting.file.name, SettingsFile.errorText(for: path, error))
            }
        }
        (self.config, self.file) = (ConfigReader(providers: providers), file)
        (self.environment, self.mistakes) = (environment, mistakes)
    }

    /// Refuses a listening address that is neither an IP address nor a host name, because a resolver may
    /// resolve `*` to any address.
    mutating func checkAddress(_ host: String, of setting: Setting) {
        // A link-local address's zone follows "%".
        let name = String(host.prefix { $0 != "%" })
        guard !AllowedHosts.isName(name) || !host.hasOnlyLettersDigits(and: ".:-_%[]") else { return }
        mistakes.add(
            setting.name,
            "must be an address or a host name; 0.0.0.0 is every address of IPv4, and :: every address")
    }

    fileprivate mutating func trustedProxies() -> [AddressBlock] {
        let blocks = (list(.trustedProxies) ?? []).map { AddressBlock($0) }
        if blocks.contains(nil) {
            mistakes.add(
                Setting.trustedProxies.name,
                "must be IP addresses or networks like 10.0.0.7 or 10.0.0.0/8, comma-separated")
        }
        if AddressBlock.holdEveryAddress(blocks.compactMap { $0 }) {
            mistakes.add(
                Setting.trustedProxies.name,
                "must name the proxies, but has every public address, so any client could say in "
                    + "X-Forwarded-For who it is and hold all connections; write their addresses, like 10.0.0.7"
            )
        }
        return blocks.compactMap { $0 }
    }

    /// Returns a setting's value or its default; `nil` if it has neither.
    func text(_ setting: Setting) -> String? {
        config.string(forKey: setting.key, isSecret: setting.isSecret) ?? setting.defaultText
    }

    /// Returns the elements of a comma-separated value, without surrounding white space.
    func list(_ setting: Setting) -> [String]? {
        text(setting)?.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns the value of a setting with fixed choices, or its default; `nil` after a mistake.
    mutating func choice<Choice: RawRepresentable<String>>(_ setting: Setting) -> Choice? {
        guard case .choice(let words, _) = setting.kind, let text = text(setting) else {
            preconditionFailure("\(setting.name) is no choice")
        }
        if words.contains(text), let choice = Choice(rawValue: text) { return choice }
        mistakes.add(setting.name, "must be one of \(words.joined(separator: ", "))")
        return nil
    }

    /// Reads all numeric settings.
    fileprivate mutating func numbers() -> SettingNumbers {
        var numbers = SettingNumbers()
        for setting in Setting.all {
            guard let bounds = setting.bounds(inDevelopment: isDevelopment) else { continue }
            if let number = text(setting).flatMap({ Int($0) }), bounds.contains(number) {
                numbers[setting] = number
            } else {
                mistakes.add(
                    setting.name, "must be a number from \(bounds.lowerBound) to \(bounds.upperBound)")
            }
        }
        return numbers
    }

    mutating func database() -> DatabaseLocation? {
        do throws(DatabaseLocation.Refusal) {
            return try DatabaseLocation(url: text(.database) ?? "")
        } catch {
            let errorText =
                switch error {
                case .unknownScheme:
                    "must be sqlite:///absolute/path, sqlite://relative/path or postgres://host/database"
                case .noPath: "has no path; use sqlite:///absolute/path or sqlite://relative/path"
                case .hasParameters: "must have no parameters with sqlite"
                case .postgres(.libraryMissing):
                    "names PostgreSQL, but this program was packaged without libpq; use the siwa-dev of the Debian "
                        + "package or of a build, or a sqlite URL"
                case .postgres(.malformed):
                    "is not a PostgreSQL URL: escape special characters in the password (\"/\" as %2F, \"@\" as "
                        + "%40), and use only parameters that libpq knows"
                case .postgres(.optionMalformed(let name)):
                    "has a value of \(name) that libpq does not accept"
                }
            mistakes.add(Setting.database.name, errorText)
            return nil
        }
    }

    private static func isKnownSetting(_ name: String) -> Bool { Setting.named(name) != nil }

    /// Removes quotation marks around a value. A shell would remove them, but Docker's `--env-file` and some
    /// service managers keep them.
    ///
    /// - Returns: `nil` if the value has no quotation marks.
    private static func withoutQuotes(_ value: String) -> String? {
        for quote in ["\"", "'"] where value.count > 1 && value.hasPrefix(quote) && value.hasSuffix(quote) {
            return String(value.dropFirst().dropLast())
        }
        return nil
    }

    private static func isKnown(_ name: String) -> Bool {
        guard name.hasPrefix("SIWA_") || name.hasPrefix("APPLE_") else { return true }
        return Setting.named(name) != nil
    }
}

extension SettingsReader {
    /// Reads the additional host names that the service accepts in development.
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

extension SettingsReader {
    /// Reads the console's address and host names.
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
