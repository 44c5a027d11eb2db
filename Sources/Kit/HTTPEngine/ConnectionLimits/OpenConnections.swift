import Encodings
import NIOCore
import Synchronization

/// Counts all of the service's open connections, and closes connections to make room for new connections.
///
/// A connection takes the lock only when it opens and when it closes. The idle time is atomic, because every
/// response reads it.
final class OpenConnections: Sendable {
    struct Loop: Sendable {
        let eventLoop: any EventLoop
        let connections: NIOLoopBound<LoopConnections>
        let oldestUse: LoopConnections.OldestUse
    }

    private let rule: Mutex<ConnectionLimitRule>
    private let loops = Mutex<[Loop]>([])
    private let idleNanoseconds: Atomic<Int64>
    let trustedProxies: [AddressBlock]
    private let noteEarlyClose: @Sendable (EarlyCloseReason) -> Void
    private let trimmer = MemoryTrimmer()

    /// - Parameter noteEarlyClose: Called for each connection that closes to make room, on any event loop.
    init(limits: ServerLimits, noteEarlyClose: @escaping @Sendable (EarlyCloseReason) -> Void) {
        let bounds = ConnectionLimitRule.Bounds(limits)
        rule = Mutex(ConnectionLimitRule(bounds))
        idleNanoseconds = Atomic(bounds.idleTime.nanoseconds)
        trustedProxies = limits.trustedProxies
        self.noteEarlyClose = noteEarlyClose
    }

    var idleTime: TimeAmount { .nanoseconds(idleNanoseconds.load(ordering: .relaxed)) }

    /// Returns the client at an address, or `nil` if no limit applies to the address.
    func client(at address: SocketAddress?) -> ClientAddress? {
        guard let address, !trustedProxies.contains(address) else { return nil }
        return ClientAddress(address)
    }

    func add(_ loop: Loop) {
        loops.withLock { $0.append(loop) }
    }

    /// Breaks the reference cycle with the event loops. The server calls it when the service ends.
    func dissolve() {
        loops.withLock { $0 = [] }
    }

    func opened(from client: ClientAddress?) -> ConnectionLimitRule.Verdict {
        rule.withLock { rule in
            defer { idleNanoseconds.store(rule.idleTime.nanoseconds, ordering: .relaxed) }
            return rule.opened(from: client)
        }
    }

    func closed(from client: ClientAddress?) {
        let hasDispersed = rule.withLock { rule in
            defer { idleNanoseconds.store(rule.idleTime.nanoseconds, ordering: .relaxed) }
            return rule.closed(from: client)
        }
        if hasDispersed { trimmer.schedule() }
    }

    func carryOut(_ verdict: ConnectionLimitRule.Verdict, for newcomer: NIOLoopBound<ConnectionHandler>) {
        switch verdict {
        case .fine: break
        case .makeRoom: search(.crowded, of: nil, for: newcomer)
        case .replace(let network): search(.addressShare, of: network, for: newcomer)
        }
    }

    private func search(
        _ reason: EarlyCloseReason, of network: CountedNetwork?,
        for newcomer: NIOLoopBound<ConnectionHandler>
    ) {
        let loops = loops.withLock { $0 }.sorted { $0.oldestUse.moment < $1.oldestUse.moment }
        let eventLoop = newcomer.eventLoop
        let identity = ObjectIdentifier(newcomer.value)
        // Each loop searches on its own thread, beginning with the loop that has the oldest connection.
        @Sendable func look(in rest: ArraySlice<Loop>) {
            guard let loop = rest.first else {
                guard network != nil else { return }
                noteEarlyClose(.refused)
                return eventLoop.execute { newcomer.value.closeEarly() }
            }
            let isDone = loop.connections.value.closeLongestIdle(of: network, except: identity)
            if isDone { return noteEarlyClose(reason) }
            go(on: rest.dropFirst())
        }
        @Sendable func go(on rest: ArraySlice<Loop>) {
            guard let loop = rest.first, !loop.eventLoop.inEventLoop else { return look(in: rest) }
            loop.eventLoop.execute { look(in: rest) }
        }
        go(on: loops[...])
    }
}

/// Connections of one event loop, ordered by their last use. Use the object only on its event loop.
final class LoopConnections {
    private let openConnections: OpenConnections
    private let oldestUse: OldestUse
    private var connections = RecencyList<ConnectionHandler>()

    /// Time at which a loop's least recently used connection was last used. Other loops may read it.
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

    /// Time that a connection may be idle.
    var idleTime: TimeAmount { openConnections.idleTime }

    func client(at address: SocketAddress?) -> ClientAddress? { openConnections.client(at: address) }

    /// Returns the client that sent a request, even if named proxies forwarded it; `nil` if the proxies do
    /// not name the client.
    ///
    /// - Parameter client: Peer of the connection; `nil` for a named proxy.
    func requester(of fields: RequestFields, from client: ClientAddress?) -> ClientAddress? {
        client ?? fields.forwardedFor.flatMap { openConnections.trustedProxies.requester(forwardedFor: $0) }
    }

    /// Adds a connection. The caller must call `enforceLimits` next.
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

    /// Closes a connection if the new connection has exceeded a limit.
    func enforceLimits(for newcomer: ConnectionHandler, on eventLoop: any EventLoop) {
        let verdict = openConnections.opened(from: newcomer.client)
        closeOverdue(at: newcomer.usedAt)
        guard verdict != .fine else { return }
        openConnections.carryOut(verdict, for: NIOLoopBound(newcomer, eventLoop: eventLoop))
    }

    /// - Parameter network: Network whose connections may close; `nil` for any network.
    /// - Returns: True if a connection was closed.
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

    /// Closes connections that have been idle too long, which happens when the idle time shrinks.
    private func closeOverdue(at now: NIODeadline) {
        let idleTime = openConnections.idleTime
        func isRecent(_ connection: ConnectionHandler) -> Bool { connection.usedAt + idleTime >= now }
        // The list is in order of use, so all connections after the first recent connection are recent too.
        while let next = connections.first(where: { $0.isIdle || isRecent($0) }), !isRecent(next) {
            next.closeEarly()
        }
    }

    private func noteOldest() { oldestUse.moment = connections.oldest?.usedAt ?? .distantFuture }
}

/// Elements in the order of their last use. It takes constant time to add an element, move it to the end or
/// remove it.
struct RecencyList<Element> {
    /// Position of an element, valid until its removal.
    struct Place: Equatable {
        fileprivate let index: Int
    }

    private struct Node {
        var element: Element?
        var previous: Int
        var next: Int
    }

    private static var none: Int { -1 }

    private var nodes: [Node] = []
    private var first = Self.none
    private var last = Self.none
    /// First removed node. The removed nodes are linked through `next`.
    private var unused = Self.none

    mutating func append(_ element: Element) -> Place {
        var index = unused
        if index == Self.none {
            index = nodes.count
            nodes.append(Node(element: element, previous: Self.none, next: Self.none))
        } else {
            unused = nodes[index].next
            nodes[index].element = element
        }
        linkAtEnd(index)
        return Place(index: index)
    }

    mutating func moveToEnd(_ place: Place) {
        guard place.index != last else { return }
        unlink(place.index)
        linkAtEnd(place.index)
    }

    mutating func remove(_ place: Place) {
        unlink(place.index)
        nodes[place.index] = Node(element: nil, previous: Self.none, next: unused)
        unused = place.index
    }

    var oldest: Element? { first == Self.none ? nil : nodes[first].element }

    /// Returns the least recently used element that matches; `nil` if none matches.
    func first(where isMeant: (Element) -> Bool) -> Element? {
        var index = first
        while index != Self.none {
            if let element = nodes[index].element, isMeant(element) { return element }
            index = nodes[index].next
        }
        return nil
    }

    private mutating func unlink(_ index: Int) {
        let (previous, next) = (nodes[index].previous, nodes[index].next)
        if previous == Self.none { first = next } else { nodes[previous].next = next }
        if next == Self.none { last = previous } else { nodes[next].previous = previous }
    }

    private mutating func linkAtEnd(_ index: Int) {
        (nodes[index].previous, nodes[index].next) = (last, Self.none)
        if last == Self.none { first = index } else { nodes[last].next = index }
        last = index
    }
}
