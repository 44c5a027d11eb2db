import HummingbirdCore
import NIOCore
import Synchronization

/// An accepted connection. It is closed when it is released before it was served.
final class AcceptedConnection: ServerChildChannelValue {
    let channel: any Channel
    private let isServed = Atomic(false)

    init(channel: any Channel) {
        self.channel = channel
    }

    /// From now on the caller must close the channel.
    func beginServing() -> any Channel {
        isServed.store(true, ordering: .relaxed)
        return channel
    }

    deinit {
        // Otherwise the client would wait for a response until the process ends.
        if !isServed.load(ordering: .relaxed) { channel.close(promise: nil) }
    }
}
