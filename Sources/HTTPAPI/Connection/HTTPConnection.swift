import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Builds the pipeline of an accepted connection, beneath Hummingbird's server.
///
/// Hummingbird accepts, counts and quiesces connections. Its request path is left out: it costs more than the
/// verification of a token, and cannot answer a header that never ends.
struct HTTPConnection: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    let dispatcher: Dispatcher
    let limits: ServerLimits
    private let gates: EventLoopLocal<AdmissionGate>
    private let rounds: EventLoopLocal<AnswerRound>

    init(dispatcher: Dispatcher, limits: ServerLimits) {
        (self.dispatcher, self.limits) = (dispatcher, limits)
        gates = EventLoopLocal { AdmissionGate(eventLoop: $0, bounds: limits.admission) }
        rounds = EventLoopLocal { AnswerRound(eventLoop: $0, commit: dispatcher.commit) }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            decoderLimits.maxHeaderFieldSize = limits.headerBytes
            decoderLimits.maxHeaderListSize = limits.headerBytes
            decoderLimits.maxHeaderFieldCount = limits.headerFields
            let decoder = HTTPRequestDecoder(
                leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
            let connection = ConnectionHandler(
                dispatcher: dispatcher, gate: gates.value(on: channel.eventLoop),
                round: rounds.value(on: channel.eventLoop), limits: limits, eventLoop: channel.eventLoop)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ArrivalHandler(connection))
            try pipeline.addHandler(ByteToMessageHandler(decoder))
            try pipeline.addHandler(connection)
            return Value(channel: channel)
        }
    }

    /// Lasts as long as the connection, so that the server waits for it before it ends.
    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}
