/// The unit of a number in a section of the configuration file, in the words of errors.
public enum DraftUnit: String, Sendable, Hashable {
    case seconds
    case refreshTokens = "refresh tokens"
}
