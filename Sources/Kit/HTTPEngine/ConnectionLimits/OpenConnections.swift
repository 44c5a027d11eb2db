import Encodings
import NIOCore
import Synchronization

/// All open connections of the service: counts them, and closes connections to make room for new ones.
///
/// Locked once when a connection opens and once when it closes. The idle time is read with every response,
/// and is an atomic.
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

    /// - Parameter noteEarlyClose: Called on any event loop for each connection that closes to make room.
    init(limits: ServerLimits, noteEarlyClose: @escaping @Sendable (EarlyCloseReason) -> Void) {
        let bounds = ConnectionLimitRule.Bounds(limits)
        rule = Mutex(ConnectionLimitRule(bounds))
        idleNanoseconds = Atomic(bounds.idleTime.nanoseconds)
        trustedProxies = limits.trustedProxies
        self.noteEarlyClose = noteEarlyClose
    }

    var idleTime: TimeAmount { .nanoseconds(idleNanoseconds.load(ordering: .relaxed)) }

    /// `nil` for an address without a limit.
    func client(at address: SocketAddress?) -> ClientAddress? {
        guard let address, !trustedProxies.contains(address) else { return nil }
        return ClientAddress(address)
    }

    func add(_ loop: Loop) {
        loops.withLock { $0.append(loop) }
    }

    /// Breaks the reference cycle with the event loops, at the end of the service.
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
