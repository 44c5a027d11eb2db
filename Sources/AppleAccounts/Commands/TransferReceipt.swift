/// What a transfer did.
public enum TransferReceipt: Sendable, Hashable {
    /// The account is now found as the receiving team knows the person.
    case moved
    /// The account was not in this database and has been made.
    case made
    /// It had been done before.
    case alreadyDone
}
