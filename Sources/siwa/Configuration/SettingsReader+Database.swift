extension SettingsReader {
    /// Returns the location of the database, for commands that need no other setting. Of mistakes it finds those
    /// that are about the location.
    ///
    /// - Throws: `ConfigurationMistakes`.
    static func database(environment: [String: String]) async throws -> DatabaseLocation {
        let names = [Setting.database.name, Setting.file.name]
        var mistakes = ConfigurationMistakes()
        for name in environment.keys.sorted() where name.hasPrefix("SIWA_") && Setting.named(name) == nil {
            guard let nearest = NearestName.of(name, among: Setting.all.map(\.name)), names.contains(nearest)
            else { continue }
            mistakes.add(name, "is not known; did you mean \(nearest)?")
        }
        var needed = environment.filter { names.contains($0.key) }
        // The environment takes precedence, so the file is not needed.
        if !(needed[Setting.database.name] ?? "").isEmpty { needed[Setting.file.name] = nil }
        var reader = await SettingsReader(reading: needed, mistakes)
        reader.mistakes = reader.mistakes.about([Setting.database.nameInFile] + names)
        let location = reader.database()
        guard reader.mistakes.isEmpty, let location else { throw reader.mistakes }
        return location
    }
}
