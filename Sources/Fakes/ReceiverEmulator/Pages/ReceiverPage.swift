import Hummingbird

/// The page: both receivers with their faults, and the latest messages, newest first.
struct ReceiverPage {
    /// Seconds between two loads of a page that is watched.
    static let watchInterval = 2
    /// Number of messages on the page. The control API shows all that are kept.
    static let shown = 50

    private let receivers: [ReceiverEntry]
    private let messages: [MessageEntry]
    private let token: String
    private let isWatching: Bool

    /// - Parameter token: Token of the forms (CSRF).
    init(of state: ReceiverState, token: String, isWatching: Bool) async {
        let world = state.update { $0 }
        let status = await world.sender.status()
        receivers = EmulatedReceiver.allCases.map { receiver in
            ReceiverEntry(receiver, in: world, status: status[receiver.rawValue])
        }
        messages = world.log.messages.suffix(Self.shown).reversed().map { MessageEntry($0) }
        (self.token, self.isWatching) = (token, isWatching)
    }

    var response: Response {
        PageFrame(
            title: "Receivers of events", template: "receivers", values: self,
            reloadsAfter: isWatching ? Self.watchInterval : nil
        ).response
    }
}
