/// A change to be made: a plain value that knows what it has to see and, in `WorkingSet`, what
/// it does.
///
/// The app in a command is named by its primary client ID, and every time of ours is in it: applying a
/// command reads no clock and no configuration.
public enum AccountCommand: Sendable, Hashable {
    case signIn(SignInCommand)
    case notification(NotificationCommand)
    case finishExchange(ExchangeCommand)
    case rejectRefreshToken(RejectionCommand)
    case erase(EraseCommand)
    case transfer(TransferCommand)

    /// Whether it may change which row a subject is in, so that it cannot share a working set with others.
    public var standsAlone: Bool {
        switch self {
        case .erase, .transfer: true
        case .signIn(let signIn): signIn.transferSubject != nil
        case .notification, .finishExchange, .rejectRefreshToken: false
        }
    }
}
