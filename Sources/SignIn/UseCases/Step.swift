/// The result of a call that usually returns at once and sometimes has to wait.
///
/// A caller on an event loop handles `now` on the spot, without a task, and starts a task only for `later`.
public enum Step<Value: Sendable>: Sendable {
    case now(Value)
    case later(@Sendable () async throws -> Value)

    /// For callers that are in a task already.
    public var value: Value {
        get async throws {
            switch self {
            case .now(let value): value
            case .later(let work): try await work()
            }
        }
    }
}
