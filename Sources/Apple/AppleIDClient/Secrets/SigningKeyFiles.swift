import Synchronization

/// Signing keys in files. Changed files are read again, so that a new key is used without a restart.
///
/// While a file cannot be read, for example because it is being written, its last good key stays in use. When
/// a file is removed from a directory, its key is no longer used.
public final class SigningKeyFiles: SigningKeySource {
    private let locations: [String: SigningKeyLocation]
    private let uptime: @Sendable () -> Duration
    private let held = Mutex<[String: CachedSigningKeys]>([:])

    /// The shortest time between two checks of the files.
    public static let interval: Duration = .seconds(3)

    /// - Parameters:
    ///   - locations: The locations by team ID.
    ///   - uptime: A monotonic clock.
    public init(
        _ locations: [String: SigningKeyLocation],
        uptime: @escaping @Sendable () -> Duration = SystemUptime.elapsed
    ) {
        self.locations = locations
        self.uptime = uptime
    }

    public func keys(ofTeam team: String) -> [ClientSigningKey] {
        look(atTeam: team).keys
    }

    /// Returns the keys that are in use, and the error of the last check of their files.
    public func look(atTeam team: String) -> (keys: [ClientSigningKey], trouble: SigningKeyError?) {
        guard let location = locations[team] else { return ([], nil) }
        if case .key(let key) = location { return ([key], nil) }
        let now = uptime()
        return held.withLock { teams in
            var held = teams[team] ?? CachedSigningKeys()
            if let lookedAt = held.lookedAt, now - lookedAt < Self.interval {
                return (held.keys, held.trouble)
            }
            held.lookedAt = now
            held.update(from: location)
            teams[team] = held
            return (held.keys, held.trouble)
        }
    }

    /// Reads all keys of a location, or throws the first error. For a check of the configuration.
    public static func read(_ location: SigningKeyLocation) throws(SigningKeyError) -> [ClientSigningKey] {
        if case .key(let key) = location { return [key] }
        var keys: [ClientSigningKey] = []
        for file in try SigningKeyFile.list(location) { keys.append(try file.read()) }
        return keys
    }
}
