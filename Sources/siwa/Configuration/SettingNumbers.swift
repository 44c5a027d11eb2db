/// The numbers of the configuration, each within the bounds of its setting.
struct SettingNumbers: Sendable {
    private var numbers: [String: Int] = [:]

    /// The number of a setting, or its default.
    subscript(_ setting: Setting) -> Int {
        get { numbers[setting.name] ?? setting.defaultNumber }
        set { numbers[setting.name] = newValue }
    }
}
