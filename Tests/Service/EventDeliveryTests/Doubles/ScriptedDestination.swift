import EventDelivery
import Synchronization

/// Takes messages as its script says, and records which it took.
final class ScriptedDestination: EventDestination {
    static let timeLimit: Int64 = 10_000

    typealias Script = @Sendable (EventMessage) async throws -> Void

    private let state: Mutex<(script: Script, attempts: [EventMessage], taken: [EventMessage])>

    init(_ script: @escaping Script = { _ in }) {
        state = Mutex((script, [], []))
    }

    /// All attempts, in their order.
    var attempts: [EventMessage] { state.withLock { $0.attempts } }
    /// The messages that were taken, in their order.
    var taken: [EventMessage] { state.withLock { $0.taken } }

    func follow(_ script: @escaping Script) {
        state.withLock { $0.script = script }
    }

    func post(_ message: EventMessage, while mayBegin: @escaping @Sendable () -> Bool) async throws {
        let script = state.withLock { state in
            state.attempts.append(message)
            return state.script
        }
        try await script(message)
        state.withLock { $0.taken.append(message) }
    }
}

extension EventMessage {
    var eventID: String { fields["webhook-id"] ?? "" }
    var text: String { String(decoding: body, as: UTF8.self) }
}
