/// The place that the value of a setting comes from. Holds no value of a secret.
struct SettingOrigin: Sendable, Equatable {
    enum Place: String, Sendable {
        case environment
        /// The YAML file.
        case file
        case byDefault = "default"
        case notSet = "not set"
    }

    let name: String
    let place: Place
    /// The value as it is written; `nil` for a secret, and for a setting without a value.
    let text: String?
}

extension SettingsReader {
    /// Returns where each setting comes from.
    ///
    /// - Parameter environment: The variables that count as set.
    func origins(environment: [String: String]) -> [SettingOrigin] {
        Setting.all.map { setting in
            let place: SettingOrigin.Place =
                if environment[setting.name] != nil {
                    .environment
                } else if file?.values[setting.nameInFile] != nil {
                    .file
                } else {
                    setting.defaultText == nil ? .notSet : .byDefault
                }
            return SettingOrigin(
                name: setting.name, place: place, text: setting.isSecret ? nil : text(setting))
        }
    }
}
