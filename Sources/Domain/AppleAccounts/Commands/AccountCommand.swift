/// A change to be made: a plain value. It names the data that it needs; its effect is in `WorkingSet`.
///
/// A command names the app by its primary client ID and contains every time of our clock: applying a command
/// reads no clock and no configuration.
public enum AccountCommand: Sendable, Hashable {
    /// Indirect, because queues and batches pass commands on, and a copy of the many members costs as much as a part
    /// of the work itself.
    indirect case signIn(SignInCommand)
    case notification(NotificationCommand)
    case finishExchange(ExchangeCommand)
    case rejectRefreshToken(RejectionCommand)
    case erase(EraseCommand)
    case transfer(TransferCommand)
    case registerKey(RegisterKeyCommand)
    case useProof(UseProofCommand)
    case disable(DisableCommand)
    case enable(EnableCommand)
    case signOut(SignOutCommand)

    /// Indicates that the command may move a subject to another row, so that it cannot share a working set.
    public var standsAlone: Bool {
        switch self {
        case .erase, .transfer: true
        case .signIn(let signIn): signIn.transferSubject != nil
        case .notification, .finishExchange, .rejectRefreshToken, .registerKey, .useProof, .disable, .enable,
            .signOut:
            false
        }
    }
}
