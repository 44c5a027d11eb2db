/// The environment of the service.
enum ServiceEnvironment: String, CaseIterable {
    /// Only the real Apple is accepted, and callers need API keys.
    case production
    /// Apple may be the emulator, and API keys are optional.
    case development
}
