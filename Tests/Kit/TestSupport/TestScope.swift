public import Testing

/// A value that lives as long as a test, such as a running server. The suite's tests read it from `current`.
///
///     extension Trait where Self == TestScope<Server> {
///         static var server: Self { Self { try await Server.run($0) } }
///     }
///     @Suite(.server) struct ServerTests {
///         let server = Server.current
///
/// A trait on a test replaces its suite's trait for the same type of value.
public final class TestScope<Value: Sendable>: SuiteTrait, TestTrait, TestScoping {
    private let run: @Sendable (_ body: @Sendable (Value) async throws -> Void) async throws -> Void

    /// - Parameter run: Creates a value, calls its argument once with it, and then ends the value.
    public init(
        _ run: @escaping @Sendable (_ body: @Sendable (Value) async throws -> Void) async throws -> Void
    ) {
        self.run = run
    }

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        let last = test.traits.last { $0 is TestScope<Value> }
        guard last as? TestScope<Value> === self else { return try await body() }
        try await run { try await Self.provide($0, to: body) }
    }

    /// Calls `body` with the value as `current`, for traits that create several values.
    public static func provide(_ value: Value, to body: () async throws -> Void) async throws {
        let values = ScopedValues.current.merging([ObjectIdentifier(Value.self): value]) { $1 }
        try await ScopedValues.$current.withValue(values) { try await body() }
    }

    /// The running test's value.
    public static var current: Value {
        guard let value = ScopedValues.current[ObjectIdentifier(Value.self)] as? Value else {
            preconditionFailure("expected a trait that makes a \(Value.self), found none: add it to the test")
        }
        return value
    }
}

private enum ScopedValues {
    @TaskLocal static var current: [ObjectIdentifier: any Sendable] = [:]
}
