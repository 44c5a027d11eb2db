/// Who told us.
public enum CredentialSource: String, Sendable, Hashable, CaseIterable {
    case signIn = "sign_in"
    case notification
    case dailyCheck = "daily_check"
    case erasure
}
