import Synchronization

/// Signing keys in files, which are read again when they change: a new key is picked up without a restart.
///
/// A file that cannot be read any more, because somebody is just writing it, keeps its last good key. A file that is
/// gone from a directory takes its key with it.
public final class SigningKeyFiles: SigningKeySource {
    private let locations: [String: SigningKeyLocation]
    private let uptime: @Sendable () -> Duration
    private let held = Mutex<[String: HeldSigningKeys]>([:])

    /// How often files are looked at, at most.
    public static let interval: Duration = .seconds(3)

    /// - Parameters:
    ///   - locations: by team ID.
    ///   - uptime: a clock that never goes back.
    public init(
        _ locations: [String: SigningKeyLocation],
        uptime: @escaping @Sendable () -> Duration = SystemUptime.now
    ) {
        self.locations = locations
        self.uptime = uptime
    }

    public func keys(ofTeam team: String) -> [ClientSigningKey] {
        look(atTeam: team).keys
    }

    /// The keys that are in use, and what was wrong with their files when they were looked at last.
    public func look(atTeam team: String) -> (keys: [ClientSigningKey], trouble: SigningKeyError?) {
        guard let location = locations[team] else { return ([], nil) }
        if case .key(let key) = location { return ([key], nil) }
        let now = uptime()
        return held.withLock { teams in
            var held = teams[team] ?? HeldSigningKeys()
            if let lookedAt = held.lookedAt, now - lookedAt < Self.interval {
                return (held.keys, held.trouble)
            }
            held.lookedAt = now
            held.update(from: location)
            teams[team] = held
            return (held.keys, held.trouble)
        }
    }

    /// All keys of a location, or what is wrong with it: for whoever checks a configuration.
    public static func read(_ location: SigningKeyLocation) throws(SigningKeyError) -> [ClientSigningKey] {
        if case .key(let key) = location { return [key] }
        var keys: [ClientSigningKey] = []
        for file in try SigningKeyFile.list(location) { keys.append(try file.read()) }
        return keys
    }
}
