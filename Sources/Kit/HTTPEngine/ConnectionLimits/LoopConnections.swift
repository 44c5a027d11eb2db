import Encodings
import NIOCore
import Synchronization

/// The connections of one event loop, in the order of their last use. Stays on its event loop.
final class LoopConnections {
    private let openConnections: OpenConnections
    private let oldestUse: OldestUse
    private var connections = RecencyList<ConnectionHandler>()

    /// Time at which the least recently used connection of the loop was used. Other loops may read it.
    final class OldestUse: Sendable {
        private let nanoseconds = Atomic<UInt64>(.max)

        var moment: NIODeadline {
            get { .uptimeNanoseconds(nanoseconds.load(ordering: .relaxed)) }
            set { nanoseconds.store(newValue.uptimeNanoseconds, ordering: .relaxed) }
        }
    }

    init(openConnections: OpenConnections, eventLoop: any EventLoop) {
        self.openConnections = openConnections
        oldestUse = OldestUse()
        openConnections.add(
            OpenConnections.Loop(
                eventLoop: eventLoop, connections: NIOLoopBound(self, eventLoop: eventLoop),
                oldestUse: oldestUse))
    }

    /// Time for which a connection may be idle.
    var idleTime: TimeAmount { openConnections.idleTime }

    func client(at address: SocketAddress?) -> ClientAddress? { openConnections.client(at: address) }

    /// Returns the client that sent a request, also through named proxies; `nil` when they do not say.
    ///
    /// - Parameter client: The other end of the connection; `nil` for a named proxy.
    func requester(of fields: RequestFields, from client: ClientAddress?) -> ClientAddress? {
        client ?? fields.forwardedFor.flatMap { openConnections.trustedProxies.requester(forwardedFor: $0) }
    }

    /// `enforceLimits` must be called next.
    func open(_ connection: ConnectionHandler) -> RecencyList<ConnectionHandler>.Place {
        defer { noteOldest() }
        return connections.append(connection)
    }

    func used(_ place: RecencyList<ConnectionHandler>.Place) {
        connections.moveToEnd(place)
        noteOldest()
    }

    func closed(_ place: RecencyList<ConnectionHandler>.Place, from client: ClientAddress?) {
        connections.remove(place)
        noteOldest()
        openConnections.closed(from: client)
    }

    /// Closes a connection when the limits require it, after a connection was added.
    func enforceLimits(for newcomer: ConnectionHandler, on eventLoop: any EventLoop) {
        let verdict = openConnections.opened(from: newcomer.client)
        closeOverdue(at: newcomer.usedAt)
        guard verdict != .fine else { return }
        openConnections.carryOut(verdict, for: NIOLoopBound(newcomer, eventLoop: eventLoop))
    }

    /// - Parameter network: Only connections of this network; `nil` for all.
    /// - Returns: `true` if a connection was closed.
    func closeLongestIdle(of network: CountedNetwork?, except newcomer: ObjectIdentifier) -> Bool {
        closeOverdue(at: .now())
        let found = connections.first { connection in
            connection.isExpendable
                && network.map { connection.client?.isIn($0) ?? false } ?? true
                && ObjectIdentifier(connection) != newcomer
        }
        found?.closeEarly()
        return found != nil
    }

    /// Closes connections that became idle when more idle time was allowed.
    private func closeOverdue(at now: NIODeadline) {
        let idleTime = openConnections.idleTime
        func isRecent(_ connection: ConnectionHandler) -> Bool { connection.usedAt + idleTime >= now }
        // The list is in order of use: after the first recent connection all are recent.
        while let next = connections.first(where: { $0.isIdle || isRecent($0) }), !isRecent(next) {
            next.closeEarly()
        }
    }

    private func noteOldest() { oldestUse.moment = connections.oldest?.usedAt ?? .distantFuture }
}
