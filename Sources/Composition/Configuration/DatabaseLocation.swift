import Configuration
package import PostgresStorage

/// The database location, as set in `DATABASE_URL`.
package enum DatabaseLocation: Equatable {
    case sqlite(path: String)
    case postgres(PostgresAddress)

    package enum Refusal: Error, Equatable {
        case unknownScheme, noPath, hasParameters
        case postgres(PostgresAddress.Refusal)
    }

    /// Accepts `sqlite:///absolute/path`, `sqlite://relative/path`, and libpq's PostgreSQL URLs.
    package init(url: String) throws(Refusal) {
        guard let colon = url.firstRange(of: "://") else { throw .unknownScheme }
        let rest = url[colon.upperBound...]
        switch url[..<colon.lowerBound] {
        case "sqlite":
            guard !rest.isEmpty, rest != "/" else { throw .noPath }
            guard !rest.contains("?"), !rest.contains("#") else { throw .hasParameters }
            self = .sqlite(path: String(rest))
        case "postgres", "postgresql":
            do throws(PostgresAddress.Refusal) { self = .postgres(try PostgresAddress(url)) } catch {
                throw .postgres(error)
            }
        default: throw .unknownScheme
        }
    }

    /// The location for use in messages, without secrets.
    package var place: String {
        switch self {
        case .sqlite(let path): path
        case .postgres(let address): address.place
        }
    }
}

extension SettingsReader {
    /// Returns the database location, for commands that need no other setting. Reports only mistakes about
    /// the location.
    ///
    /// - Throws: `ConfigurationMistakes` if the location is invalid.
    package static func database(environment: [String: String]) async throws -> DatabaseLocation {
        let names = [Setting.database.name, Setting.file.name]
        var needed = environment.filter { names.contains($0.key) }
        // The environment takes precedence, so if it sets the location, the reader does not need the file.
        if !(needed[Setting.database.name] ?? "").isEmpty { needed[Setting.file.name] = nil }
        var reader = await SettingsReader(reading: needed, ConfigurationMistakes())
        if reader.isWritten(.database) {
            // The text of a mistake in the file begins with the line and this name.
            reader.mistakes = reader.mistakes.about(["\(Setting.database.nameInFile): "] + names)
        } else {
            // If the setting is misspelled, the default would select another database.
            reader.mistakes = reader.mistakes.about([Setting.database.nameInFile] + names)
            for name in environment.keys.sorted()
            where name.hasPrefix("SIWA_") && Setting.named(name) == nil {
                let nearest = NearestName.of(name, among: Setting.all.map(\.name)) ?? ""
                guard names.contains(nearest) else { continue }
                reader.mistakes.add(name, "is not known; did you mean \(nearest)?")
            }
        }
        let location = reader.database()
        guard reader.mistakes.isEmpty, let location else { throw reader.mistakes }
        return location
    }

    /// Returns `true` if the environment or the file contains the setting.
    private func isWritten(_ setting: Setting) -> Bool {
        config.string(forKey: setting.key, isSecret: setting.isSecret) != nil
    }
}
