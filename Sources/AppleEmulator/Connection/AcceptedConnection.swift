import HummingbirdCore
import NIOCore
import Synchronization

/// A connection that was accepted. It is closed when it is dropped without having been served.
final class AcceptedConnection: ServerChildChannelValue {
    let channel: any Channel
    private let isServed = Atomic(false)

    init(channel: any Channel) {
        self.channel = channel
    }

    /// From here on the caller closes the channel.
    func beginServing() -> any Channel {
        isServed.store(true, ordering: .relaxed)
        return channel
    }

    deinit {
        // Otherwise the client would wait for an answer until the process ends.
        if !isServed.load(ordering: .relaxed) { channel.close(promise: nil) }
    }
}
