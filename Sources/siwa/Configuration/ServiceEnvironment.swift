/// Where the service runs.
enum ServiceEnvironment: String, CaseIterable {
    /// Apple is Apple, callers need keys.
    case production
    /// Apple may be the emulator, and callers may go without a key.
    case development
}
