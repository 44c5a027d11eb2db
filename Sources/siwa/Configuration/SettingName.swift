import Configuration

/// The names of all settings, as environment variables.
///
/// The YAML file uses the same names in lower case.
enum SettingName: String, CaseIterable {
    case host = "SIWA_HOST"
    case port = "SIWA_PORT"
    case addressShare = "SIWA_ADDRESS_SHARE"
    case trustedProxies = "SIWA_TRUSTED_PROXIES"
    case environment = "SIWA_ENV"
    case allowedHosts = "SIWA_ALLOWED_HOSTS"
    case apiKeyHashes = "SIWA_API_KEY_HASHES"
    case logLevel = "SIWA_LOG_LEVEL"
    case file = "SIWA_CONFIG"
    case database = "DATABASE_URL"
    case databaseConnections = "SIWA_DATABASE_CONNECTIONS"
    case teamID = "APPLE_TEAM_ID"
    case clientIDs = "APPLE_CLIENT_IDS"
    case servicesIDs = "APPLE_SERVICES_IDS"
    case keyID = "APPLE_KEY_ID"
    case privateKey = "APPLE_PRIVATE_KEY"
    case privateKeyFile = "APPLE_PRIVATE_KEY_FILE"
    case keysFile = "APPLE_KEYS_FILE"
    case baseURL = "APPLE_BASE_URL"
    case issuers = "APPLE_ISSUERS"
    case sealingKeys = "SIWA_SEALING_KEYS"
    case publicURL = "SIWA_PUBLIC_URL"
    case googleBaseURL = "SIWA_GOOGLE_BASE_URL"
    case webRedirectURL = "SIWA_WEB_REDIRECT_URL"
    case checkInterval = "SIWA_CHECK_INTERVAL"
    case checksPerSecond = "SIWA_CHECKS_PER_SECOND"
    case drainSeconds = "SIWA_DRAIN_SECONDS"

    /// The key in swift-configuration, which finds it in capitals in the environment and in lower case in the
    /// file.
    var key: ConfigKey {
        ConfigKey(rawValue.lowercased().split(separator: "_").map(String.init))
    }

    var isSecret: Bool { self == .privateKey || self == .database || self == .sealingKeys }

    var nameInFile: String { rawValue.lowercased() }

    /// All settings except the path of the file itself, which can only be set in the environment.
    static let fileCases = allCases.filter { $0 != .file }
}
