import NIOCore
import Synchronization

/// All open connections of the service: knows how many there are, and has others closed for those that come.
///
/// Asked once when a connection opens and once when it closes. How long one may be idle is asked with every answer,
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
    private let trustedProxies: [AddressBlock]
    private let notices: EarlyCloseNotices
    private let trimmer = MemoryTrimmer()

    init(limits: ServerLimits, notices: EarlyCloseNotices) {
        let bounds = ConnectionLimitRule.Bounds(limits)
        rule = Mutex(ConnectionLimitRule(bounds))
        idleNanoseconds = Atomic(bounds.idleTime.nanoseconds)
        trustedProxies = limits.trustedProxies
        self.notices = notices
    }

    var idleTime: TimeAmount { .nanoseconds(idleNanoseconds.load(ordering: .relaxed)) }

    /// `nil` for those that have no share.
    func client(at address: SocketAddress?) -> ClientAddress? {
        guard let address, !trustedProxies.contains(where: { $0.contains(address) }) else { return nil }
        return ClientAddress(address)
    }

    func add(_ loop: Loop) {
        loops.withLock { $0.append(loop) }
    }

    /// At the end of the service: the loops hold the crowd, and the crowd the loops.
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
        case .replace(let client): search(.addressShare, of: client, for: newcomer)
        }
    }

    private func search(
        _ reason: EarlyCloseNotices.Reason, of client: ClientAddress?,
        for newcomer: NIOLoopBound<ConnectionHandler>
    ) {
        let loops = loops.withLock { $0 }.sorted { $0.oldestUse.moment < $1.oldestUse.moment }
        let eventLoop = newcomer.eventLoop
        let identity = ObjectIdentifier(newcomer.value)
        // Each loop looks on its own thread, the one with the oldest connection first.
        @Sendable func look(in rest: ArraySlice<Loop>) {
            guard let loop = rest.first else {
                guard client != nil else { return }
                notices.count(.refused)
                return eventLoop.execute { newcomer.value.closeEarly() }
            }
            let isDone = loop.connections.value.closeLongestIdle(of: client, except: identity)
            if isDone { return notices.count(reason) }
            go(on: rest.dropFirst())
        }
        @Sendable func go(on rest: ArraySlice<Loop>) {
            guard let loop = rest.first, !loop.eventLoop.inEventLoop else { return look(in: rest) }
            loop.eventLoop.execute { look(in: rest) }
        }
        go(on: loops[...])
    }
}
