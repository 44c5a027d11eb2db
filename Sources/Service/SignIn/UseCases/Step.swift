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

extension Step {
    /// Returns the step with another value, made at once or when the value is available.
    func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) throws -> Step<Other> {
        switch self {
        case .now(let value): .now(try transform(value))
        case .later(let work): .later { try transform(try await work()) }
        }
    }

    /// Returns the step that follows with the value, at once or when the value is available.
    func then<Other>(
        _ next: @escaping @Sendable (Value) throws -> Step<Other>
    ) throws -> Step<Other> {
        switch self {
        case .now(let value): try next(value)
        case .later(let work): .later { try await next(try await work()).value }
        }
    }
}
