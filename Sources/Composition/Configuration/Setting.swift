import AppleAccounts
import AppleIDClient
import AppleIdentity
import Configuration
import Cryptography
import HTTPAPI
import Logging

/// A service setting: the name of its environment variable, its type, bounds, default, and help sentence. The
/// YAML file uses the same name in lower case.
///
/// The settings reader, the suggestions for misspelled names, `siwa serve --help` and the test of
/// `docs/configuration.md` are all based on `all`.
package struct Setting: Sendable {
    enum Kind: Sendable {
        case text(default: String? = nil)
        /// A comma-separated list.
        case list(default: String? = nil)
        case choice([String], default: String)
        case number(ClosedRange<Int>, default: Int)
    }

    /// A section of the `siwa serve` help.
    package enum Group: Sendable, CaseIterable {
        case required, keys, web, oauth, others
    }

    package let name: String
    let kind: Kind
    let isSecret: Bool
    let group: Group
    let sentence: String
    /// The smallest accepted number in development; `nil` if it is the same as in production.
    let smallestInDevelopment: Int?
    /// Returns the value that the console shows in place of the configured value: fingerprints, names and
    /// locations of secrets. `nil` if the console shows the value as written.
    let shown: (@Sendable (ServiceSettings) -> String?)?
    /// Returns the value that `siwa dev` sets in code instead of as text.
    let inTrial: @Sendable (ServiceSettings) -> String?

    private init(
        _ name: String, _ kind: Kind, isSecret: Bool = false, in group: Group = .others, _ sentence: String,
        smallestInDevelopment: Int? = nil, shown: (@Sendable (ServiceSettings) -> String?)? = nil,
        inTrial: @escaping @Sendable (ServiceSettings) -> String? = { _ in nil }
    ) {
        (self.name, self.kind, self.isSecret) = (name, kind, isSecret)
        (self.group, self.sentence) = (group, sentence)
        self.smallestInDevelopment = smallestInDevelopment
        (self.shown, self.inTrial) = (shown, inTrial)
    }

    static let teamID = Setting(
        "APPLE_TEAM_ID", .text(), in: .required, "the 10 characters of your Apple team ID",
        inTrial: { $0.deployment.apps.first?.team.rawValue })
    static let clientIDs = Setting(
        "APPLE_CLIENT_IDS", .list(), in: .required,
        "your app's bundle ID, then those that are grouped with it, comma-separated",
        inTrial: { $0.deployment.apps.flatMap(\.clientIDs).map(\.rawValue).joined(separator: ", ") })
    static let apiKeyHashes = Setting(
        "SIWA_API_KEY_HASHES", .list(), in: .required,
        "the callers: name=hash (siwa api-key makes a key and its hash)",
        shown: { settings in
            // The console's own section shows the keys in the file's list.
            let count = settings.namesInKeySetting.count
            return count == 0 ? nil : "\(count == 1 ? "one key" : "\(count) keys"), see below"
        })
    static let metricsKeyHash: Setting = Setting(
        "SIWA_METRICS_KEY_HASH", .text(), "the hash of a key that opens /metrics and nothing else",
        shown: { settings in
            settings.fingerprints["setting \(metricsKeyHash.name)"] ?? settings.metricsKey.map { _ in "set" }
        })
    static let privateKeyFile = Setting(
        "APPLE_PRIVATE_KEY_FILE", .text(), in: .keys,
        "AuthKey_<key ID>.p8 from Apple, or a directory of such files")
    package static let sealingKeys = Setting(
        "SIWA_SEALING_KEYS", .list(), isSecret: true, in: .keys,
        "the keys that encrypt them: name=key (siwa sealing-key makes one)",
        shown: { settings in
            settings.sealingKeys.map { ring in
                ring.keys.map { "\($0.name) (\($0.fingerprint))" }.joined(separator: ", ")
            }
        })
    static let publicURL = Setting(
        "SIWA_PUBLIC_URL", .text(), in: .web, "the public URL of this service", inTrial: { $0.publicURL })
    static let webRedirectURL = Setting(
        "SIWA_WEB_REDIRECT_URL", .text(), in: .web, "the page of your site that receives the result")
    static let servicesIDs = Setting(
        "APPLE_SERVICES_IDS", .list(), in: .web, "the Services IDs of the app, comma-separated")
    static let file = Setting(
        "SIWA_CONFIG", .text(), in: .oauth,
        "a YAML file with the section oauth (siwa client new prints the lines)")
    static let host = Setting("SIWA_HOST", .text(default: "127.0.0.1"), "the address to listen on")
    package static let port = Setting(
        "SIWA_PORT", .number(0...65535, default: 8080), "the port; 0 is a free one")
    static let addressShare = Setting(
        "SIWA_ADDRESS_SHARE", .number(1...100, default: 50),
        "the share of all connections that one client address may hold, in percent")
    static let trustedProxies = Setting(
        "SIWA_TRUSTED_PROXIES", .list(), "addresses and networks that may hold any number of connections")
    static let environment = Setting(
        "SIWA_ENV",
        .choice(
            ServiceEnvironment.allCases.map(\.rawValue), default: ServiceEnvironment.production.rawValue),
        "production or development", inTrial: { $0.environment.rawValue })
    static let allowedHosts = Setting(
        "SIWA_ALLOWED_HOSTS", .list(), "further host names of the service, in development",
        inTrial: { $0.allowedHosts.isEmpty ? nil : $0.allowedHosts.joined(separator: ", ") })
    static let logLevel = Setting(
        "SIWA_LOG_LEVEL",
        .choice(Logger.Level.allCases.map(\.rawValue), default: Logger.Level.info.rawValue),
        "how much to log")
    static let logFormat = Setting(
        "SIWA_LOG_FORMAT",
        .choice(LogFormat.allCases.map(\.rawValue), default: LogFormat.text.rawValue), "text or json")
    static let logRate = Setting(
        "SIWA_LOG_ONE_OF", .number(1...1_000_000, default: 1),
        "log one of this many successful requests; refused and failed ones are always logged")
    static let tracesURL = Setting(
        "SIWA_TRACES_URL", .text(), "the OTLP/HTTP address of a collector, which gets spans")
    static let tracesHeaders = Setting(
        "SIWA_TRACES_HEADERS", .list(), isSecret: true, "header fields for the collector: name=value",
        shown: { $0.traces?.headers.isEmpty == false ? "set" : nil })
    static let tracesRatio = Setting(
        "SIWA_TRACES_RATIO", .text(default: "0.01"), "the share of new traces that are recorded, 0 to 1")
    static let tracesService = Setting(
        "SIWA_TRACES_SERVICE", .text(default: "siwa"), "the name of the service in its traces")
    /// The check interval. Apple throttles clients that validate the same user's token more than once a day.
    package static let checkInterval = Setting(
        "SIWA_CHECK_INTERVAL", .number(86_400...2_592_000, default: 86_400),
        "seconds between two checks of a refresh token at Apple", smallestInDevelopment: 1)
    static let checksPerSecond = Setting(
        "SIWA_CHECKS_PER_SECOND", .number(1...1000, default: 25),
        "how many refresh tokens are checked in a second at most")
    static let receipts = Setting(
        "SIWA_APP_ATTEST_RECEIPTS",
        .choice(ReceiptExchange.allCases.map(\.rawValue), default: ReceiptExchange.off.rawValue),
        "exchange receipts of App Attest for the risk metric: off or on")
    static let database = Setting(
        "DATABASE_URL", .text(default: "sqlite://siwa.sqlite"), isSecret: true,
        "sqlite:///absolute/path, sqlite://relative/path or postgres://host/database",
        shown: \.database.place)
    static let databaseConnections = Setting(
        "SIWA_DATABASE_CONNECTIONS", .number(1...100, default: 8), "connections to PostgreSQL")
    static let drainSeconds = Setting(
        "SIWA_DRAIN_SECONDS", .number(0...300, default: 0),
        "how long the service goes on after SIGTERM while /readyz answers 503")
    static let auditDays = Setting(
        "SIWA_AUDIT_DAYS", .number(7...3660, default: 400), "how many days the audit log goes back",
        smallestInDevelopment: 1)
    static let keyID = Setting(
        "APPLE_KEY_ID", .text(), "the ID of the key, if its file is not named after it")
    static let privateKey = Setting(
        "APPLE_PRIVATE_KEY", .text(), isSecret: true, "the key itself, in place of its file",
        shown: { settings in
            let ids = settings.signingKeys.values.compactMap { location -> String? in
                switch location {
                case .key(let key): "key ID \(key.keyID)"
                case .file, .directory: nil
                }
            }
            return ids.isEmpty ? nil : ids.sorted().joined(separator: ", ")
        })
    static let keysFile = Setting(
        "APPLE_KEYS_FILE", .text(), "a file with a key set, in place of the one at Apple")
    static let issuers = Setting(
        "APPLE_ISSUERS", .list(default: VerificationPolicy.appleIssuer),
        "the accepted issuers, comma-separated")
    package static let baseURL = Setting(
        "APPLE_BASE_URL", .text(), "the URL of the fake Apple, in development",
        inTrial: { settings in
            guard case .remote(let url) = settings.keySource else { return nil }
            return url
        })
    package static let googleBaseURL = Setting(
        "SIWA_GOOGLE_BASE_URL", .text(), "the URL of the fake Google, in development")

    static let googleServiceAccountFile = Setting(
        "SIWA_GOOGLE_SERVICE_ACCOUNT_FILE", .text(),
        "the JSON key file with which siwa google risc and siwa doctor ask Google")

    package static let consolePort = Setting(
        "SIWA_CONSOLE_PORT", .number(0...65535, default: 0), "the port of the console; 0 is no console")
    static let consoleHost = Setting(
        "SIWA_CONSOLE_HOST", .text(default: "127.0.0.1"), "the address that the console listens on")
    static let consoleAllowedHosts = Setting(
        "SIWA_CONSOLE_ALLOWED_HOSTS", .list(), "further host names of the console, such as that of a proxy")

    /// All settings, in help order.
    static let all: [Setting] = [
        teamID, clientIDs, apiKeyHashes, privateKeyFile, sealingKeys, publicURL, webRedirectURL, servicesIDs,
        file, host, port, database, databaseConnections, logLevel, drainSeconds, addressShare, trustedProxies,
        checkInterval, checksPerSecond, receipts, auditDays, keyID, privateKey, keysFile, issuers,
        environment, allowedHosts, metricsKeyHash, baseURL, googleBaseURL, googleServiceAccountFile,
        consolePort, consoleHost, consoleAllowedHosts,
        logFormat, logRate, tracesURL, tracesHeaders, tracesRatio, tracesService,
    ]

    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    /// All settings except the path of the file itself, which only the environment can set.
    static let ofFile = all.filter { $0.name != file.name }

    /// The setting's swift-configuration key, which is converted to upper case for the environment and to
    /// lower case for the file.
    var key: ConfigKey {
        ConfigKey(nameInFile.split(separator: "_").map(String.init))
    }

    var nameInFile: String { name.lowercased() }

    /// The default in configuration format; `nil` if there is none.
    var defaultText: String? {
        switch kind {
        case .text(let text), .list(let text): text
        case .choice(_, let word): word
        case .number(_, let number): String(number)
        }
    }

    /// Returns the range of accepted numbers; `nil` if the setting is not numeric.
    func bounds(inDevelopment isDevelopment: Bool) -> ClosedRange<Int>? {
        guard case .number(let bounds, _) = kind else { return nil }
        return
            (isDevelopment ? smallestInDevelopment ?? bounds.lowerBound : bounds.lowerBound)...bounds
            .upperBound
    }

    /// A numeric setting's default. Stops the process for any other setting, because that is a programming
    /// error.
    var defaultNumber: Int {
        guard case .number(_, let number) = kind else { preconditionFailure("\(name) is no number") }
        return number
    }

    /// Returns a group's settings as help lines, each with its name and sentence.
    package static func help(of group: Group) -> String {
        all.filter { $0.group == group }.map(\.help).joined(separator: "\n")
    }

    private var help: String {
        let (indent, column, width) = (2, 28, 78)
        var words = sentence.split(separator: " ").map(String.init)
        if let defaultText {
            words += "(default: \(defaultText))".split(separator: " ").map(String.init)
        }
        var lines = [String(repeating: " ", count: indent) + name]
        var line = lines.removeLast()
        line += String(repeating: " ", count: max(1, column - line.count))
        var isEmpty = true
        for word in words {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                (line, isEmpty) = (String(repeating: " ", count: column), true)
            }
            line += isEmpty ? word : " " + word
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
