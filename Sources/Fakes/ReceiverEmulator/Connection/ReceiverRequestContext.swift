import Hummingbird
import NIOCore

/// A request's context with the connection, so that a fault can close the connection.
struct ReceiverRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
