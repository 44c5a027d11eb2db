/// What a command did.
public enum AccountOutcome: Sendable, Hashable {
    case signedIn(SignInOutcome)
    case notification(NotificationReceipt)
    case nonceMinted
}
