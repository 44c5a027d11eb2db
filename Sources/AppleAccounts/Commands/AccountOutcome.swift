/// What a command did.
public enum AccountOutcome: Sendable, Hashable {
    case signedIn(SignInOutcome)
    case notification(NotificationReceipt)
    case exchangeFinished(ExchangeReceipt)
    case refreshTokenRejected(RejectionReceipt)
    /// As it was stored.
    case erased(ErasureRecord)
    case transferred(TransferReceipt)
}
